"""Examples below the help of each command. A word in capitals is in place of an id.

They are in one table, so that they look alike and each can be run by a test.
"""

from __future__ import annotations

from collections.abc import Mapping

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "demo": ("hexamem demo",),
    "ingest": ("hexamem ingest chat.jsonl -u alice", "hexamem ingest chat.jsonl -u alice --timezone Asia/Shanghai"),
    "chat": ("hexamem chat -u alice",),
    "recall": (
        'hexamem recall "Where does Mia go to school?" -u alice',
        'hexamem recall "school" -u alice --kind step --since 2024-01-01 --why',
    ),
    "ask": ('hexamem ask "Where does Mia go to school?" -u alice --trace',),
    "items": ("hexamem items -u alice --kind semantic",),
    "show": ("hexamem show ITEM -u alice", "hexamem show STEP -u alice"),
    "steps": ("hexamem steps -u alice --thread family --last 5",),
    "pages list": ("hexamem pages list -u alice",),
    "pages show": ("hexamem pages show STEP -u alice",),
    "pages search": ('hexamem pages search "school" -u alice -k 3',),
    "pages light": ("hexamem pages light -u alice --tokens 500",),
    "users": ("hexamem users",),
    "history": ("hexamem history -u alice --limit 5",),
    "add": (
        "hexamem add -u alice lease.txt notes/trip.md",
        'hexamem add -u alice --kind semantic name="Mia\'s school" summary="starts on 1 September"',
    ),
    "edit": ('hexamem edit ITEM -u alice summary="starts on 2 September"',),
    "remove": ('hexamem remove ITEM -u alice --reason "entered in error"',),
    "forget": ("hexamem forget -u alice STEP", "hexamem forget -u alice --thread family"),
    "undo": ("hexamem undo OPERATION -u alice",),
    "feedback": ("hexamem feedback RECALL -u alice --helped STEP",),
    "labels list": ("hexamem labels list -u alice --kind entity",),
    "labels show": ("hexamem labels show School -u alice",),
    "labels rename": ('hexamem labels rename School "Primary school" -u alice',),
    "labels merge": ("hexamem labels merge School Family -u alice",),
    "labels split": ('hexamem labels split School "Primary school" STEP -u alice',),
    "labels move": ("hexamem labels move School STEP -u alice",),
    "labels pin": ("hexamem labels pin School -u alice",),
    "experience list": ("hexamem experience list -u alice",),
    "experience show": ("hexamem experience show EXPERIENCE -u alice",),
    "experience retire": ('hexamem experience retire EXPERIENCE -u alice --reason "misleads"',),
    "experience promote": ("hexamem experience promote EXPERIENCE -u alice",),
    "experience stats": ("hexamem experience stats -u alice",),
    "redact": (
        'hexamem redact "West Lake Primary" -u alice --caption "a school"',
        "hexamem redact - -u alice < words.txt",
    ),
    "reveal": ('hexamem reveal SECRET -u alice --reason "to log in"',),
    "erase": ("hexamem erase -u alice",),
    "export": ("hexamem export alice.jsonl -u alice",),
    "import": ("hexamem import alice.jsonl -u bob",),
    "doctor": ("hexamem doctor",),
    "jobs list": ("hexamem jobs list",),
    "jobs retry": ("hexamem jobs retry JOB -u alice",),
    "jobs drop": ("hexamem jobs drop JOB -u alice",),
    "flush": ("hexamem flush", "hexamem flush -u alice"),
    "reindex": ("hexamem reindex -u alice",),
    "reembed": ("hexamem reembed --embedder bundled",),
    "eval locomo": ("hexamem eval locomo locomo10.json -s learned -s bm25",),
    "eval synthetic": ("hexamem eval synthetic --size S --json out.json",),
    "train": ("hexamem train talks/ --out weights.json",),
}
"""By the command's name, with its group's."""


def epilog(command: str) -> str | None:
    """The last lines of a command's help; None for one without examples."""
    examples = EXAMPLES.get(command)
    return (
        None
        if examples is None
        else "\n\n".join(("[bold]Examples[/bold]" if len(examples) > 1 else "[bold]Example[/bold]", *examples))
    )
