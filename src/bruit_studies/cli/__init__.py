"""The commands of the studies: ``bruit tour`` and ``bruit study``, which ``bruit`` finds by their entry points."""
