package frontier

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"github.com/cespare/xxhash/v2"
)

// Every key begins with the two bytes of its pipeline and one that tells what it holds. Numbers are big
// endian, so that keys sort as the numbers do.
const (
	kindCrawl   = 'c' // id: a crawl and where its round stands
	kindSeen    = 's' // url: who came to it, in which round, and where it is queued
	kindVisit   = 'v' // url: what its last visit left behind
	kindItem    = 'q' // host, level, order: a URL to hand out
	kindReady   = 'r' // level, host: the host has items, and may be loaded
	kindHost    = 'h' // host: how it is treated, how many items it has
	kindParked  = 't' // due, host: the host waits on disk
	kindDelayed = 'd' // due, order: an item that is tried again later
	kindFailed  = 'f' // url: gave no document
	kindMeta    = 'm' // counters
	kindFamily  = 'y' // family: how many URLs of it are known
	kindRules   = 'z' // the rules that were added
	kindHits    = 'x' // whose, rule: how many URLs it has decided
)

// The directory of the database has pipeline number 0.
const pipelinesKey = "\x00\x00pipeline/"

type (
	urlID  [16]byte // of a URL fetched with certain credentials
	hostID uint64   // of a host and port; hosts that collide share their politeness, and no more
)

// identify returns the identity of a URL that is fetched with the named credentials: what the owner of
// some credentials sees is another document than what the public sees.
func identify(secret, url string) urlID {
	if secret != "" {
		url = secret + "\x00" + url
	}
	sum := sha256.Sum256([]byte(url))
	return urlID(sum[:16])
}

func hostOf(host string) hostID { return hostID(xxhash.Sum64String(strings.ToLower(host))) }

// keys makes the keys of one pipeline.
type keys [2]byte

func (k keys) start(kind byte) []byte {
	return append(make([]byte, 0, 32), k[0], k[1], kind)
}

func (k keys) end(kind byte) []byte { return k.start(kind + 1) }

func (k keys) url(kind byte, id urlID) []byte { return append(k.start(kind), id[:]...) }

func (k keys) crawl(id string) []byte { return append(k.start(kindCrawl), id...) }

func (k keys) host(id hostID) []byte {
	return binary.BigEndian.AppendUint64(k.start(kindHost), uint64(id))
}

// item sorts the more urgent levels of a host first.
func (k keys) item(host hostID, level level, order uint64) []byte {
	key := binary.BigEndian.AppendUint64(k.start(kindItem), uint64(host))
	return binary.BigEndian.AppendUint64(append(key, byte(level)), order)
}

func (k keys) ready(level level, host hostID) []byte {
	return binary.BigEndian.AppendUint64(append(k.start(kindReady), byte(level)), uint64(host))
}

// timed is the key of something that is due at a time: a parked host or a delayed item.
func (k keys) timed(kind byte, due int64, what uint64) []byte {
	key := binary.BigEndian.AppendUint64(k.start(kind), uint64(max(due, 0)))
	return binary.BigEndian.AppendUint64(key, what)
}

// lastNumber returns the number that key ends with.
func lastNumber(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-8:]) }

// dueOf returns the time that a timed key begins with.
func dueOf(key []byte) int64 { return int64(binary.BigEndian.Uint64(key[3:])) }
