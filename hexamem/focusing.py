"""``user.experience.focus``: guiding principles of an environment, derived from examples by a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hexamem.arguments import check_text, check_texts
from hexamem.errors import InvalidInputError
from hexamem.experience.as_items import item_values
from hexamem.experience.care import ACTOR, read_experience
from hexamem.experience.focusing import Focus, focus_points
from hexamem.experience.merging import merge
from hexamem.memory_types.experience import Experience
from hexamem.stores.changing import add_item

if TYPE_CHECKING:
    from hexamem.learning import UserExperience

__all__ = ["focus"]

_NO_MODEL = "focus points need a model: open the memory with model='openai:…' (or models={'experience': …})"


def focus(experience: UserExperience, env: str, examples: Sequence[str]) -> Focus:
    """See :meth:`~hexamem.learning.UserExperience.focus`."""
    from hexamem.learning import OFF

    user, memory = experience._user, experience._user.memory
    texts = [check_text(example, "an example").strip() for example in check_texts(examples, "examples")]
    texts = [memory._without_secrets(user.name, text) for text in texts if text]
    if not texts:
        raise InvalidInputError("examples holds no text; give the texts of some tasks of the environment")
    known = _points(experience, env)
    with experience._distilling.model_for(user.name, "focus", "focus") as model:
        if model is None:
            return Focus(points=known, degraded=(_NO_MODEL,))
        if not memory.settings.experience:
            return Focus(points=known, degraded=(OFF,))
        made, degraded = focus_points(model, user.name, env, texts)
    merged, without_vectors = experience._recall.with_vectors(lambda embed: merge(made, known, embed))
    reason = f"a focus point from {len(texts)} example{'' if len(texts) == 1 else 's'}"
    with memory.ledger.write(user.name, timezone=user.timezone) as tx:
        for point in merged.new:
            find = memory.settings.find_secrets
            add_item(tx, item_values(point), memory.cipher, actor=ACTOR, reason=reason, find=find)
    memory.wrote(user.name)
    return Focus(points=_points(experience, env), degraded=(*degraded, *without_vectors))


def _points(experience: UserExperience, env: str) -> tuple[Experience, ...]:
    user = experience._user
    with user.memory.ledger.read(user.name) as tx:
        return tuple(point for point in read_experience(tx, env) if point.origin == "focus")
