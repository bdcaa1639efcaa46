"""What every instruction means, in NumPy: written from the documents, never from a page's body.

An oracle sees operands as matrices of values and says what the outputs hold afterwards. The harness
knows where the elements lie, runs both engines and compares every byte of every memory.
"""
