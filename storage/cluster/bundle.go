package cluster

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/webrace/webrace/storage/frontier"
)

// A row of an inbox takes more of a server than an envelope in it. So what is sent together to a partition is one row,
// which names the crawls of all.

// bundle is the content of a row of an inbox.
type bundle struct {
	to        int
	pipeline  string
	passes    []frontier.Pass // the latest of each crawl
	envelopes [][]byte
	size      int
}

// mostBundled is how long the envelopes of a row are together, about.
const mostBundled = 1 << 20

// bundled puts together what goes to the same queue.
func bundled(parcels []parcel) (all []*bundle) {
	type queue struct {
		pipeline string
		to       int
	}
	open := make(map[queue]*bundle)
	for _, p := range parcels {
		for _, e := range p.envelopes {
			b := open[queue{p.pipeline, e.To}]
			if b == nil || b.size > mostBundled {
				b = &bundle{to: e.To, pipeline: p.pipeline}
				all, open[queue{p.pipeline, e.To}] = append(all, b), b
			}
			b.envelopes, b.size = append(b.envelopes, e.Data), b.size+len(e.Data)
			b.passes = latest(b.passes, e.Passes)
		}
	}
	return all
}

// latest adds passes to others, of which each crawl has one.
func latest(all, more []frontier.Pass) []frontier.Pass {
	for _, p := range more {
		i := slices.IndexFunc(all, func(known frontier.Pass) bool { return known.Crawl == p.Crawl })
		if i < 0 {
			all = append(all, p)
		} else {
			all[i].Number = max(all[i].Number, p.Number)
		}
	}
	return all
}

// several begins what has several envelopes, each behind its length. It is the version of none: a single one is stored
// as it is.
const several = 0

func (b *bundle) data() []byte {
	if len(b.envelopes) == 1 && len(b.envelopes[0]) > 0 && b.envelopes[0][0] != several {
		return b.envelopes[0]
	}
	data := append(make([]byte, 0, b.size+2*len(b.envelopes)+1), several)
	for _, e := range b.envelopes {
		data = append(binary.AppendUvarint(data, uint64(len(e))), e...)
	}
	return data
}

// envelopesIn returns the envelopes of a row. Of one that cannot be divided it is the whole, which no queue can read.
func envelopesIn(data []byte) (all [][]byte) {
	if len(data) == 0 || data[0] != several {
		return [][]byte{data}
	}
	for rest := data[1:]; len(rest) > 0; {
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) {
			return [][]byte{data}
		}
		all, rest = append(all, rest[n:n+int(size)]), rest[n+int(size):]
	}
	return all
}

// insertRows has bundles put into inboxes.
const insertRows = `INSERT INTO webrace.inbox (p, pipeline, crawls, passes, data)
	SELECT p, pipeline, string_to_array(crawls, chr(31)), string_to_array(passes, chr(31))::bigint[], data
	FROM unnest(?::bigint[], ?::text[], ?::text[], ?::text[], ?::bytea[]) AS sent (p, pipeline, crawls, passes, data)`

// separator stands between the ids of crawls, in which it is not.
const separator = "\x1f"

// rowsOf returns what [insertRows] takes.
func rowsOf(all []*bundle) []any {
	var to []int
	var pipelines, crawls, passes []string
	var data [][]byte
	for _, b := range all {
		ids, numbers := make([]string, len(b.passes)), make([]string, len(b.passes))
		for i, pass := range b.passes {
			ids[i], numbers[i] = pass.Crawl, strconv.FormatUint(uint64(pass.Number), 10)
		}
		to, pipelines, data = append(to, b.to), append(pipelines, b.pipeline), append(data, b.data())
		crawls, passes = append(crawls, strings.Join(ids, separator)), append(passes, strings.Join(numbers, separator))
	}
	return []any{to, pipelines, crawls, passes, data}
}
