"""Tables that speak Arrow's C stream interface or the data frame interchange protocol, made by hand from their
specifications; test_tables.py uses polars and pyarrow where they are installed."""

import ctypes

import numpy as np
import pandas
import pytest

import kqd
from kqd import _core

_KEPT = []  # everything that C pointers refer to


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
RELEASE_ARRAY = ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))
Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                   ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
                   ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.POINTER(Schema)),
                   ("release", RELEASE_SCHEMA), ("private_data", ctypes.c_void_p)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                  ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
                  ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(Array))),
                  ("dictionary", ctypes.POINTER(Array)), ("release", RELEASE_ARRAY), ("private_data", ctypes.c_void_p)]
GET_SCHEMA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
GET_NEXT = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
GET_ERROR = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))
RELEASE_STREAM = ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))
Stream._fields_ = [("get_schema", GET_SCHEMA), ("get_next", GET_NEXT), ("get_last_error", GET_ERROR),
                   ("release", RELEASE_STREAM), ("private_data", ctypes.c_void_p)]

counts = {"released": 0}


@RELEASE_SCHEMA
def release_schema(pointer):
    counts["released"] += 1
    pointer.contents.release = RELEASE_SCHEMA()


@RELEASE_ARRAY
def release_array(pointer):
    counts["released"] += 1
    pointer.contents.release = RELEASE_ARRAY()


def kept(value):
    _KEPT.append(value)
    return value


def pointers(kind, items):
    made = kept((ctypes.POINTER(kind) * len(items))(*(ctypes.pointer(kept(item)) for item in items)))
    return ctypes.cast(made, ctypes.POINTER(ctypes.POINTER(kind)))


def schema_of(columns):
    children = [Schema(format=form.encode(), name=name.encode(), release=release_schema) for name, (form, _, _) in columns.items()]
    return Schema(format=b"+s", name=b"", n_children=len(children), children=pointers(Schema, children), release=release_schema)


def array_of(columns, length, offset=0):
    children = []
    for _, values, valid in columns.values():
        values = kept(np.ascontiguousarray(values))
        bits = None if valid is None else kept(np.packbits(valid, bitorder="little"))
        buffers = kept((ctypes.c_void_p * 2)(None if bits is None else bits.ctypes.data, values.ctypes.data))
        children.append(Array(length=length + offset, null_count=0 if valid is None else -1, n_buffers=2,
                              buffers=ctypes.cast(buffers, ctypes.POINTER(ctypes.c_void_p)), release=release_array))
    return Array(length=length, offset=offset, n_children=len(children), children=pointers(Array, children), release=release_array)


class ByHand:
    """A table with `__arrow_c_stream__` only, in chunks of columns {name: (format, values, valid)}."""

    def __init__(self, *chunks, offset=0, error=0):
        self.chunks, self.offset, self.error = list(chunks), offset, error

    def __arrow_c_stream__(self, requested_schema=None):
        waiting = list(self.chunks)

        def get_schema(_, out):
            out[0] = schema_of(self.chunks[0])
            return self.error

        def get_next(_, out):
            if not waiting:
                out[0] = Array()
                return 0
            chunk = waiting.pop(0)
            length = len(next(iter(chunk.values()))[2 if next(iter(chunk.values()))[0] == "b" else 1]) - self.offset
            out[0] = array_of(chunk, length, self.offset)
            return 0

        functions = kept((GET_SCHEMA(get_schema), GET_NEXT(get_next), GET_ERROR(lambda _: b"it broke"), RELEASE_STREAM()))
        stream = kept(Stream(get_schema=functions[0], get_next=functions[1], get_last_error=functions[2],
                             release=RELEASE_STREAM(lambda _: None)))
        new_capsule = ctypes.pythonapi.PyCapsule_New
        new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new_capsule(ctypes.addressof(stream), b"arrow_array_stream", None)


FORMATS = {"c": "i1", "s": "i2", "i": "i4", "l": "i8", "C": "u1", "S": "u2", "I": "u4", "L": "u8", "e": "f2", "f": "f4", "g": "f8"}


@pytest.mark.parametrize("form, dtype", FORMATS.items())
def test_numbers_of_every_type_are_read(form, dtype):
    values = np.array([1, 2, 3, 100], dtype)
    valid = np.array([True, True, False, True])
    (name, plain), = _core.read_arrow(ByHand({"v": (form, values, None)}).__arrow_c_stream__())
    assert name == "v" and plain.tolist() == values.tolist()
    assert plain.dtype.kind == values.dtype.kind
    (_, holed), = _core.read_arrow(ByHand({"v": (form, values, valid)}).__arrow_c_stream__())
    np.testing.assert_array_equal(holed, [1, 2, np.nan, 100])


def test_chunks_offsets_and_truth_values_are_read():
    bits = np.array([True, False, True, True])
    chunk = {"b": ("b", np.packbits(bits, bitorder="little"), np.ones(4, bool)), "g": ("g", np.arange(4.0), None)}
    found = dict(_core.read_arrow(ByHand(chunk, chunk, offset=1).__arrow_c_stream__()))
    assert found["b"].tolist() == [0, 1, 1] * 2 and found["g"].tolist() == [1, 2, 3] * 2


def test_columns_of_other_types_are_refused_by_name():
    table = ByHand({"a": ("g", np.arange(3.0), None), "city": ("u", np.arange(3.0), None)})
    with pytest.raises(TypeError) as raised:
        kqd.distance(table, table, rng=0)
    assert str(raised.value) == 'x: column "city" has dtype string, expected real numbers; drop or encode it'


def test_a_stream_that_fails_is_reported():
    with pytest.raises(ValueError, match="the table could not be read: it broke"):
        kqd.distance(ByHand({"a": ("g", np.arange(3.0), None)}, error=5), [1.0])


def test_streams_give_back_what_they_lend():
    counts["released"] = 0
    _core.read_arrow(ByHand({"a": ("g", np.arange(3.0), None)}).__arrow_c_stream__())
    assert counts["released"] == 2  # the schema and the array; children go with them


def test_columns_are_matched_by_name_and_lists_are_stacked():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 30))
    first = ByHand({"a": ("g", a, None), "b": ("g", b, None)})
    turned = ByHand({"b": ("g", b + 1, None), "a": ("g", a, None)})
    expected = kqd.distance(np.c_[a, b], np.c_[a, b + 1], rng=0).statistic
    assert kqd.distance(first, turned, rng=0).statistic == expected
    assert kqd.distance([first], [turned], rng=0).statistic == expected
    frames = [pandas.DataFrame({"a": a[:10], "b": b[:10]}), ByHand({"b": ("g", b[10:], None), "a": ("g", a[10:], None)})]
    assert kqd.distance(frames, turned, rng=0).statistic == expected
    assert kqd.Embedding(first, rng=0).embed(turned).n_points == 30
    with pytest.raises(ValueError, match="table 1 and table 2 have different columns"):
        kqd.distance([frames[0], pandas.DataFrame({"a": [1.0]})], turned)


class Interchange:
    """A table with `__dataframe__` only."""

    def __init__(self, frame):
        self._frame = frame

    def __dataframe__(self, **options):
        return self._frame.__dataframe__(**options)


def test_the_interchange_protocol_is_read():
    frame = pandas.DataFrame({"a": [1, 2, 3, 5], "b": [0.5, np.nan, 2.0, 1.0], "c": [True, False, True, True]})
    other = frame.assign(b=[1.0, 2.0, 3.0, 4.0])
    plain = kqd.distance(frame.astype(float), other.astype(float), nan_policy="omit", rng=0)
    found = kqd.distance(Interchange(frame), Interchange(other), nan_policy="omit", rng=0)
    assert (found.statistic, found.n_x) == (plain.statistic, 3)
    with pytest.raises(TypeError, match='column "d" has dtype string'):
        kqd.distance(Interchange(frame.assign(d=list("wxyz"))), Interchange(frame.assign(d=list("wxyz"))))
