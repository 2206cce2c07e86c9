package parquet

// Type of a column.
type Type int8

// Types of columns. JSON is text that is a value of JSON.
const (
	Boolean Type = iota
	Double
	Int64
	String
	JSON
)

// Numbers of parquet.thrift.
const (
	physicalBoolean, physicalInt64, physicalDouble, physicalBytes = 0, 2, 5, 6
	convertedText, convertedInt64, convertedJSON                  = 0, 18, 19
	logicalText, logicalInteger, logicalJSON                      = 1, 10, 12
	optional                                                      = 1
	encodingPlain, encodingRLE                                    = 0, 3
	codecZstandard                                                = 6
	dataPage                                                      = 0
	version                                                       = 1
)

// longestBound is how long a least or greatest value may be to be told.
const longestBound = 256

func (t Type) physical() int64 {
	return [...]int64{Boolean: physicalBoolean, Double: physicalDouble, Int64: physicalInt64, String: physicalBytes, JSON: physicalBytes}[t]
}

// written is a column of a group in the file.
type written struct {
	chunk
	at     int64
	packed int
}

// pageHeader is what stands in front of a page, a PageHeader of parquet.thrift.
func pageHeader(plain, packed, values int) []byte {
	var t thrift
	t.structure(func() {
		t.int32(1, dataPage)
		t.int32(2, int64(plain))
		t.int32(3, int64(packed))
		t.field(5, kindStruct)
		t.structure(func() {
			t.int32(1, int64(values))
			t.int32(2, encodingPlain)
			t.int32(3, encodingRLE) // of what is missing
			t.int32(4, encodingRLE) // of lists, of which there are none
		})
	})
	return t.out
}

// footer is what the file ends with, a FileMetaData.
func (w *Writer) footer() []byte {
	var t thrift
	t.structure(func() {
		t.int32(1, version)
		t.list(2, kindStruct, 1+len(w.columns))
		t.structure(func() {
			t.binary(4, []byte(w.name))
			t.int32(5, int64(len(w.columns)))
		})
		for _, c := range w.columns {
			t.schema(c.Column)
		}
		t.int64(3, w.all)
		t.list(4, kindStruct, len(w.groups))
		for _, g := range w.groups {
			t.group(g)
		}
		t.binary(6, []byte("webrace"))
		t.list(7, kindStruct, len(w.columns)) // without which readers do not trust in least and greatest values
		for range w.columns {
			t.structure(func() {
				t.field(1, kindStruct) // the order that is usual for the type
				t.structure(func() {})
			})
		}
	})
	return t.out
}

// schema writes a SchemaElement. What values are besides numbers and bytes is written in the way of old readers, too.
func (t *thrift) schema(c Column) {
	t.structure(func() {
		t.int32(1, c.Type.physical())
		t.int32(3, optional)
		t.binary(4, []byte(c.Name))
		switch c.Type {
		case String:
			t.int32(6, convertedText)
			t.logical(logicalText, func() {})
		case JSON:
			t.int32(6, convertedJSON)
			t.logical(logicalJSON, func() {})
		case Int64:
			t.int32(6, convertedInt64)
			t.logical(logicalInteger, func() {
				t.int8(1, 64)
				t.yes(2) // it has a sign
			})
		}
	})
}

// logical writes a LogicalType, of which one field is set.
func (t *thrift) logical(id int, f func()) {
	t.field(10, kindStruct)
	t.structure(func() {
		t.field(id, kindStruct)
		t.structure(f)
	})
}

// group writes a RowGroup.
func (t *thrift) group(g group) {
	t.structure(func() {
		t.list(1, kindStruct, len(g.columns))
		unpacked, packed := 0, 0
		for _, c := range g.columns {
			unpacked, packed = unpacked+c.unpacked, packed+c.packed
			t.structure(func() {
				t.int64(2, 0) // formerly where this was written, too
				t.field(3, kindStruct)
				t.column(c)
			})
		}
		t.int64(2, int64(unpacked))
		t.int64(3, int64(g.rows))
		if len(g.columns) > 0 {
			t.int64(5, g.columns[0].at)
		}
		t.int64(6, int64(packed))
	})
}

// column writes a ColumnMetaData.
func (t *thrift) column(c written) {
	t.structure(func() {
		t.int32(1, c.Type.physical())
		t.list(2, kindInt32, 2)
		t.number(encodingPlain)
		t.number(encodingRLE)
		t.list(3, kindBinary, 1)
		t.bytes([]byte(c.Name))
		t.int32(4, codecZstandard)
		t.int64(5, int64(c.values))
		t.int64(6, int64(c.unpacked))
		t.int64(7, int64(c.packed))
		t.int64(9, c.at)
		t.field(12, kindStruct)
		t.structure(func() {
			t.int64(3, int64(c.missing))
			if c.least != nil && len(c.least) <= longestBound && len(c.greatest) <= longestBound {
				t.binary(5, c.greatest)
				t.binary(6, c.least)
			}
		})
	})
}
