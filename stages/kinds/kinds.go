// Package kinds gives the values that flow between the shipped stages their names outside of Go: a header
// of JSON fields in lower snake_case, and for documents the body as it is. Stages in other languages,
// expressions, fixtures of tests and people who look at what flows know values by these names, so they never
// change; docs/kinds.md lists them all.
//
// To import the package registers its codecs. What is zero is left out, and texts that are not UTF-8 lose
// the bytes that are not; otherwise a value that is written and read again is the same.
package kinds

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline/codec"
)

func init() {
	codec.Register(codec.Codec[webrace.Request, request]{
		Name: "request", Doc: "asks for one URL", Encode: encodeRequest, Decode: decodeRequest,
	})
	codec.Register(codec.Codec[*webrace.Links, links]{
		Name: "links", Doc: "all that one document points to", Encode: encodeLinks, Decode: decodeLinks,
	})
	codec.Register(codec.Codec[*webrace.Document, document]{
		Name: "document", Doc: "one fetched thing: a page, a feed, a mail", Body: "its body, decompressed; none if it was not fetched anew",
		Encode: encodeDocument, Decode: decodeDocument, Own: ownDocument, Size: sizeOfDocument,
	})
}

// seconds is a duration as JSON has it: a number of seconds, exact to the nanosecond.
type seconds time.Duration

func (s seconds) MarshalJSON() ([]byte, error) {
	sign, ns := "", uint64(s)
	if s < 0 {
		sign, ns = "-", -ns
	}
	text := fmt.Sprintf("%s%d.%09d", sign, ns/1e9, ns%1e9)
	return []byte(strings.TrimSuffix(strings.TrimRight(text, "0"), ".")), nil
}

func (s *seconds) UnmarshalJSON(text []byte) error {
	number := string(text)
	if number == "null" {
		return nil
	}
	if strings.ContainsAny(number, `"eE[{tf`) {
		f, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return fmt.Errorf("%s is no number of seconds", number)
		}
		number = strconv.FormatFloat(f, 'f', 9, 64)
	}
	d, err := time.ParseDuration(number + "s")
	if err != nil {
		return fmt.Errorf("%s is no number of seconds", number)
	}
	*s = seconds(d)
	return nil
}

// hash is a number of 64 bits, written in hexadecimal: many readers of JSON have no integers so large.
type hash uint64

func (h hash) MarshalText() ([]byte, error) {
	if h == 0 {
		return nil, nil
	}
	return fmt.Appendf(nil, "%016x", uint64(h)), nil
}

func (h *hash) UnmarshalText(text []byte) error {
	*h = 0
	if len(text) == 0 {
		return nil
	}
	n, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil {
		return fmt.Errorf("%q is no hash: it is 16 hexadecimal digits", text)
	}
	*h = hash(n)
	return nil
}

// pageText is the visible text of a document. It is copied only when it is written.
type pageText webrace.Text

func (t *pageText) MarshalText() ([]byte, error) {
	if t == nil {
		return nil, nil
	}
	return t.Bytes, nil
}

func (t *pageText) UnmarshalText(text []byte) error {
	t.Bytes = append([]byte{}, text...)
	return nil
}

// pageBlocks are the blocks of a text.
type pageBlocks []webrace.Block

type block struct {
	Start int32  `json:"start"`
	End   int32  `json:"end"`
	Field string `json:"field"`
	Entry int32  `json:"entry,omitempty"`
	Skip  uint16 `json:"skip,omitempty"`
	Aside bool   `json:"aside,omitempty"`
}

// entry is by what an entry of a text is known.
type entry struct {
	Name hash `json:"name"`
	Link hash `json:"link,omitempty"`
}

var fieldNames = map[string]webrace.Field{
	"body": webrace.FieldBody, "title": webrace.FieldTitle, "heading": webrace.FieldHeading, "navigation": webrace.FieldNavigation,
}

func (b pageBlocks) MarshalJSON() ([]byte, error) {
	return json.Marshal(convert(b, func(b webrace.Block) block { return block{b.Start, b.End, b.Field.String(), b.Entry, b.Skip, b.Aside} }))
}

func (b *pageBlocks) UnmarshalJSON(text []byte) error {
	var blocks []block
	if err := json.Unmarshal(text, &blocks); err != nil {
		return err
	}
	*b = nil
	for _, one := range blocks {
		field, ok := fieldNames[one.Field]
		if !ok {
			return fmt.Errorf("a block of a text is body, title, heading or navigation, not %q", one.Field)
		}
		*b = append(*b, webrace.Block{Start: one.Start, End: one.End, Entry: one.Entry, Skip: one.Skip, Field: field, Aside: one.Aside})
	}
	return nil
}

// textOf joins a text and its blocks, which must lie within it: a stage may have changed either.
func textOf(t *pageText, blocks pageBlocks, entries []entry, columns []string) (*webrace.Text, error) {
	if t == nil {
		return nil, nil
	}
	for _, b := range blocks {
		if b.Entry < 0 || int(b.Entry) > len(entries) {
			return nil, fmt.Errorf("a block is of entry %d, and there are %d: where the blocks are changed, set entries as well", b.Entry, len(entries))
		}
		if b.Start < 0 || b.Start > b.End || int(b.End) > len(t.Bytes) {
			return nil, fmt.Errorf("block %d to %d does not lie in a text of %d bytes: where the text is changed, set blocks as well", b.Start, b.End, len(t.Bytes))
		}
	}
	return &webrace.Text{Bytes: t.Bytes, Blocks: blocks, Entries: convert(entries, func(e entry) webrace.Entry { return webrace.Entry{Name: uint64(e.Name), Link: uint64(e.Link)} }), Columns: columns}, nil
}

// convert applies f to each element; nil stays nil.
func convert[A, B any](list []A, f func(A) B) []B {
	if list == nil {
		return nil
	}
	converted := make([]B, len(list))
	for i, a := range list {
		converted[i] = f(a)
	}
	return converted
}
