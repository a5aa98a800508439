"""The same runs by Tellegen and by others: problems, hand-written C, and the peers that are installed."""
