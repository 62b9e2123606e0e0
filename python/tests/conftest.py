import hypothesis

# The same examples in every run, and no time limit: the machine may be busy.
hypothesis.settings.register_profile("kqd", derandomize=True, deadline=None, max_examples=100)
hypothesis.settings.load_profile("kqd")
