package codec

import "bytes"

// Owner is implemented by values that borrow something from their lease, and whose kind has no codec that knows how
// to copy them ([Codec] Own). Owned returns a copy that borrows nothing.
type Owner interface {
	Owned() any
}

// Own returns a value for a caller that keeps it beyond the end of its lease: what it borrows is copied, such as a body
// that others will use as a buffer by then. A value that borrows nothing is returned as it is, and is read-only still.
func Own(v any) any {
	if k := codecs.of(v); k != nil && k.own != nil {
		return k.own(v)
	}
	if owner, ok := v.(Owner); ok {
		return owner.Owned()
	}
	return v
}

func ownList(l List) List {
	own := make(List, len(l))
	for i, v := range l {
		own[i] = Own(v)
	}
	return own
}

func ownRecord(r Record) Record {
	own := make(Record, len(r))
	for name, v := range r {
		own[name] = Own(v)
	}
	return own
}

func ownBytes(b []byte) []byte { return bytes.Clone(b) }
