package objects

import (
	"encoding/binary"

	"github.com/webrace/webrace"
)

// Keys of the index. URLs hold no zero byte, so that one ends a URL within a key.
//
//	f                   format of the store
//	n                   counters
//	g                   the generation: which store it is, and how many commits it has had
//	u/<url>             the latest version of a URL
//	v/<url>\0<number4>  the versions before it
//	m/<url>             the former URL of a document that moved here for good, and the last version there
//	t/<url>             the highest number ever used for a URL, when its latest version was removed
//	d/<digest32>        a body: where it lies, and how many versions refer to it
//	k/<seq8>            the links of a version
//	l/<seq8>            the log: URL and number of the version with that sequence number
//	c/<name>            the cursor of a follower
//	s/<number4>         a segment: how far it is valid
//	x/<number4>         a segment of which nothing is alive, until its file is removed
//	r/<url>             a URL of which versions were removed, until the listener of removals was told
var (
	formatKey     = []byte("f")
	countersKey   = []byte("n")
	generationKey = []byte("g")
)

func latestKey(url string) []byte { return append([]byte("u/"), url...) }

func formerKey(url string) []byte { return append([]byte("m/"), url...) }

func tombstoneKey(url string) []byte { return append([]byte("t/"), url...) }

func olderKey(url string, number int) []byte {
	return binary.BigEndian.AppendUint32(olderPrefix(url), uint32(number))
}

func olderPrefix(url string) []byte {
	key := make([]byte, 0, len(url)+7)
	key = append(key, "v/"...)
	key = append(key, url...)
	return append(key, 0)
}

func payloadKey(d webrace.Digest) []byte { return append([]byte("d/"), d[:]...) }
func linksKey(seq uint64) []byte         { return binary.BigEndian.AppendUint64([]byte("k/"), seq) }
func logKey(seq uint64) []byte           { return binary.BigEndian.AppendUint64([]byte("l/"), seq) }
func cursorKey(name string) []byte       { return append([]byte("c/"), name...) }
func segmentKey(number uint32) []byte    { return binary.BigEndian.AppendUint32([]byte("s/"), number) }

func droppedKey(number uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte("x/"), number)
}

func removedKey(url string) []byte { return append([]byte("r/"), url...) }

// numberOf reads the number that ends a key of a segment or an older version.
func numberOf(key, prefix []byte) (uint32, bool) {
	if len(key) != len(prefix)+4 {
		return 0, false
	}
	return binary.BigEndian.Uint32(key[len(prefix):]), true
}
