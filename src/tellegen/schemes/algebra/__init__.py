"""The algebra of POGs: schemes that say the same with other signs, causes, loops and blocks, and checks of what they say."""
