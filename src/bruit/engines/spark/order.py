"""Whether the rows of a Spark DataFrame come in the same order when a task runs again.

Noise is replayed when a task is retried, which gives the same reports only to the same rows in the same order. What
Spark reads from files, or was given, is such; what comes out of a shuffle (join, groupBy, sort, repartition) is in the
order in which other machines delivered. Only plans that are known to be safe are taken for such.
"""

from __future__ import annotations

from typing import Any

#: Nodes of a plan that keep the order of their rows.
_KEEP_ORDER = {"Project", "Filter", "Generate", "Union", "SubqueryAlias", "View", "Range", "LocalRelation"}
_KEEP_ORDER |= {"OneRowRelation"}


def replayable(frame: Any) -> bool:
    """Whether every task of a DataFrame gives the same rows in the same order each time it runs."""
    java = getattr(frame, "_jdf", None)
    if java is None or frame.isStreaming:  # Spark Connect does not show its plans
        return False
    plan = java.queryExecution().analyzed()
    return bool(plan.deterministic()) and _ordered(plan)


def _ordered(node: Any) -> bool:
    name = node.getClass().getSimpleName()
    children = node.children()
    keeps = name in _KEEP_ORDER or _LEAVES.get(name, lambda _: False)(node)
    return keeps and all(_ordered(children.apply(place)) for place in range(children.size()))


def _is_coalesce(node: Any) -> bool:
    return not node.shuffle()


def _are_files(node: Any) -> bool:
    return str(node.relation().getClass().getSimpleName()) == "HadoopFsRelation"


def _is_determinate(node: Any) -> bool:
    return str(node.rdd().outputDeterministicLevel().toString()) == "DETERMINATE"


_LEAVES = {"Repartition": _is_coalesce, "LogicalRelation": _are_files, "LogicalRDD": _is_determinate}
