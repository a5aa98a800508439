"""Figures of bond graphs: what is placed, where it goes, how bonds run and are labelled."""
