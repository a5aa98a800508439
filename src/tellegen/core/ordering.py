"""Names in an order in which each follows what it is made of, in time that grows with what there is to read."""

from collections.abc import Collection, Mapping


def in_order(reads: Mapping[str, Collection[str]]) -> list[str]:
    """The names behind those that they read; left out are those that lead to a ring, or to a name that is not among them."""
    readers: dict[str, list[str]] = {}
    missing = {name: len(read) for name, read in reads.items()}
    for name, read in reads.items():
        for other in read:
            readers.setdefault(other, []).append(name)
    found = [name for name, count in missing.items() if not count]
    # The list grows while it is gone through: who has found all that it reads is next.
    for name in found:
        for reader in readers.get(name, ()):
            missing[reader] -= 1
            if not missing[reader]:
                found.append(reader)
    return found
