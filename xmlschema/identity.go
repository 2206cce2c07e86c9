package xmlschema

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/webrace/webrace/internal/selection"
	"github.com/webrace/webrace/internal/urlnorm"
)

// DeriveID returns the id of a URD that was given none. It depends on these three alone, so that
// importing a file again updates its requests instead of repeating them; source is what [URD.Source] returns, and
// interest what [URD.InterestHash] does.
func DeriveID(owner, source, interest string) string {
	h := newDigest("urd")
	h.add(owner, source, interest)
	return "u" + h.hex(10)
}

// InterestHash identifies what matters to the URD: its keywords, threshold, scope of change, and the parts of a
// page that it looks at. The order of keywords, groups and rules does not count, nor does anything that an
// annotation does not depend on, such as the time of the last check.
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
	if r := u.When(); r != nil {
		h.add("when", orElse(r.Language, RuleCSS), r.Text, r.When)
	}
	if u.Ask != "" {
		h.add("ask", u.Ask)
	}
	return h.hex(16)
}

// ACIID returns the id of the annotation that a URD makes of a document in a version, for what it is interested in:
// matching the same again gives the same id, so that it alerts once. Docbase names the version, by its number, if
// versions are kept, and by the digest of its body; and the credentials. A message never changes, so that one which
// comes again after another of the same Message-ID is no news: it is known by all that its owner was shown, whatever
// number it has in the cache, and by its digest where that is too short to tell.
func ACIID(urd, interest, uri string, d Docbase) string {
	h := newDigest("alert")
	if _, message := urlnorm.MessageID(uri); message {
		if d.Shown != 0 {
			d.Digest = strconv.FormatUint(d.Shown, 16)
		}
		d.Version = 0
	}
	h.add(urd, interest, uri, d.Secret, d.Digest)
	h.number(d.Version)
	return h.hex(sha256.Size)
}

// MatchedID returns the fingerprint of the text that mattered to a URD. Annotations had an id once that followed from
// this text alone, and it is the beginning of that.
func MatchedID(urd, interest string, matched [sha256.Size]byte) uint64 {
	h := newDigest("aci")
	h.add(urd, interest)
	h.bytes(matched[:])
	sum := h.sum()
	return binary.BigEndian.Uint64(sum[:])
}

// NumberID identifies a URD, as long as it is interested in the same, in what is remembered of the numbers of a
// document.
func NumberID(urd, interest string) uint64 {
	h := newDigest("number")
	h.add(urd, interest)
	sum := h.sum()
	return binary.BigEndian.Uint64(sum[:])
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
	sum := h.sum()
	return sum[:]
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

// digest is a sequence of fields, each with its length before it, so that no two sequences run together; its hash is
// what identifies something.
type digest []byte

func newDigest(kind string) digest {
	d := make(digest, 0, 512) // as long as most are
	d.add(Namespace, kind)
	return d
}

func (d *digest) add(fields ...string) {
	for _, f := range fields {
		d.number(len(f))
		*d = append(*d, f...)
	}
}

func (d *digest) bytes(b []byte) {
	d.number(len(b))
	*d = append(*d, b...)
}

func (d *digest) number(n int) { *d = binary.BigEndian.AppendUint64(*d, uint64(n)) }

func (d digest) sum() [sha256.Size]byte { return sha256.Sum256(d) }

func (d digest) hex(n int) string {
	sum := d.sum()
	return hex.EncodeToString(sum[:n])
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
