"""A method from outside: a person reports one attribute, more often one with many values, whose errors are larger."""

import math
from dataclasses import dataclass

from bruit.collection import Method, Settled, Task
from bruit.collection.sample import Sample


@dataclass(frozen=True)
class Even(Method):
    """Each person answers one of the {d} questions, drawn as often as the root of the number of its answers."""

    kind = "EVEN"

    def settle(self, task: Task) -> Settled:
        chosen = {name: self.mechanism(task, name, task.epsilon) for name in task.schema}
        weights = {name: round(100 * math.sqrt(attribute.size)) for name, attribute in task.schema.items()}
        return Settled(self, Sample(task.schema, chosen, weights), task.epsilon, task.unit)
