"""Linear analysis of models: poles, zeros, responses, structure, and how power divides."""
