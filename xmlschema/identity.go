package xmlschema

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"slices"

	"github.com/webrace/webrace/internal/selection"
)

// DeriveID returns the id of a URD that was given none. It depends on these three alone, so that
// importing a file again updates its requests instead of repeating them; interest is what
// [URD.InterestHash] returns.
func DeriveID(owner, uri, interest string) string {
	h := newDigest("urd")
	h.add(owner, uri, interest)
	return "u" + h.hex(10)
}

// InterestHash identifies what matters to the URD: its keywords, threshold, scope of change, and the
// parts of a page that it looks at. The order of keywords, groups and rules does not count, nor does anything that an annotation does not depend on,
// such as the time of the last check.
func (u *URD) InterestHash() string {
	h := newDigest("interest")
	h.add(orElse(u.Change, ChangeAdded))
	if !u.AnyChange() {
		h.number(u.Keywords.Threshold)
		h.bytes(groupHash(u.Keywords.top()))
	}
	if u.selects() { // added later: the hashes of others remain
		h.add("selection", selection.Key(u.Rules()))
	}
	return h.hex(16)
}

// ACIID returns the id of the annotation that the URD makes of a text: the same text matched again for
// the same interest gives the same id, so that it alerts once.
func ACIID(urd, interest string, matched [sha256.Size]byte) string {
	h := newDigest("aci")
	h.add(urd, interest)
	h.bytes(matched[:])
	return h.hex(sha256.Size)
}

// Again returns the id of an annotation whose text had gone from its page, was told of before, and has come
// back with a version: the same for the same version.
func Again(id string, version int) string {
	h := newDigest("again")
	h.add(id)
	h.number(version)
	return h.hex(sha256.Size)
}

func groupHash(g Group) []byte {
	keywords := slices.Clone(g.Keywords)
	slices.SortFunc(keywords, compareKeywords)
	groups := make([][]byte, len(g.Groups))
	for i, inner := range g.Groups {
		groups[i] = groupHash(inner)
	}
	slices.SortFunc(groups, slices.Compare)

	h := newDigest("group")
	h.add(orElse(g.Match, MatchAny))
	h.number(len(keywords))
	for _, k := range keywords {
		h.add(k.Key, orElse(k.Match, MatchWord))
		h.number(k.Weight)
		if k.Exact {
			h.add("exact")
		} else {
			h.add("")
		}
	}
	for _, inner := range groups {
		h.bytes(inner)
	}
	return h.h.Sum(nil)
}

func compareKeywords(a, b Keyword) int {
	return cmp.Or(
		cmp.Compare(a.Key, b.Key), cmp.Compare(a.Weight, b.Weight),
		cmp.Compare(a.Match, b.Match), cmp.Compare(boolInt(a.Exact), boolInt(b.Exact)))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// digest hashes a sequence of fields, each with its length before it, so that no two sequences run
// together.
type digest struct{ h hash.Hash }

func newDigest(kind string) digest {
	d := digest{sha256.New()}
	d.add(Namespace, kind)
	return d
}

func (d digest) add(fields ...string) {
	for _, f := range fields {
		d.bytes([]byte(f))
	}
}

func (d digest) bytes(b []byte) {
	d.number(len(b))
	d.h.Write(b)
}

func (d digest) number(n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	d.h.Write(b[:])
}

func (d digest) hex(n int) string { return hex.EncodeToString(d.h.Sum(nil)[:n]) }

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
