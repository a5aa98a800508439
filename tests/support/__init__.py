"""What several tests share: random networks, exact linear algebra, and an analysis of networks that owes nothing to ours."""
