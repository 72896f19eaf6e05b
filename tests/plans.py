"""Plans from one table of settings: each goes to the method, to the rounds, or to the plan itself."""

from __future__ import annotations

from typing import Any

from bruit.collection import Method, Plan, Repeat

ROUNDS = ("rounds", "epochs", "epoch_epsilon", "follow_changes")


def planned(schema: Any, epsilon: Any, method: Any, **settings: Any) -> Plan:
    """The plan with these settings."""
    own = {name: settings.pop(name) for name in ("unit", "public") if name in settings}
    again = {name: settings.pop(name) for name in ROUNDS if name in settings}
    repeat = Repeat(**{"rounds": None, **again}) if again else None
    return Plan(schema, epsilon, Method.named(method, **settings), repeat=repeat, **own)


def only_mechanism(plan: Plan) -> Any:
    """What makes the answer private, of a plan for one question."""
    (mechanism,) = plan.mechanisms.values()
    return mechanism
