package main

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"strings"
)

// rivalFrontier is a frontier as one writes it over a plain store of keys and values: it keeps what
// webrace keeps, takes hosts in turn, and commits as many steps at once. It has one crawl and one round,
// no politeness, no urgency and no retries.
type rivalFrontier struct {
	kv    kvStore
	order uint64
	known uint64
	left  uint64
	hosts map[uint64]*rivalHost
	ring  []*rivalHost
}

// rivalHost is in memory as long as the frontier is open, which webrace does not allow itself.
type rivalHost struct {
	id       uint64
	from     uint64 // the order to go on reading from
	items    []rivalItem
	count    uint64
	inRing   bool
	recorded uint64
}

type rivalItem struct {
	key, value []byte
	host       *rivalHost
}

// kvStore is a durable store of keys and values in tables.
type kvStore interface {
	// commit runs one transaction, durable when it returns.
	commit(func(kvTx) error) error
	scan(table int, from, before []byte, visit func(key, value []byte) bool) error
	io.Closer
}

type kvTx interface {
	get(table int, key []byte) ([]byte, error) // nil when there is none
	set(table int, key, value []byte) error
	remove(table int, key []byte) error
}

const (
	seenTable = iota
	itemTable
	visitTable
	hostTable
	metaTable
	kvTables
)

func newRivalFrontier(kv kvStore) *rivalFrontier {
	return &rivalFrontier{kv: kv, hosts: map[uint64]*rivalHost{}}
}

// offer queues the URLs of a group of documents that are new, and returns how many were.
func (f *rivalFrontier) offer(from string, sets [][]string) (accepted int, err error) {
	touched := map[*rivalHost]bool{}
	err = f.kv.commit(func(tx kvTx) error {
		for _, urls := range sets {
			for _, url := range urls {
				id := sha256.Sum256([]byte(url))
				old, err := tx.get(seenTable, id[:16])
				if err != nil {
					return err
				}
				if old != nil {
					continue
				}
				h := f.hostOf(url)
				f.order++
				h.count++
				touched[h] = true
				value := append(append(append([]byte{1, 0}, id[:16]...), byte(len(from))), from+url...)
				if err := tx.set(itemTable, itemKey(h.id, f.order), value); err != nil {
					return err
				}
				record := binary.AppendUvarint([]byte{1, 1, 1}, f.order)
				if err := tx.set(seenTable, id[:16], append(record, 0, 0, 0, 1, 1, 1, 1)); err != nil {
					return err
				}
				accepted++
			}
		}
		f.known += uint64(accepted)
		f.left += uint64(accepted)
		return f.totals(tx, touched)
	})
	for h := range touched {
		if !h.inRing {
			h.inRing = true
			f.ring = append(f.ring, h)
		}
	}
	return accepted, err
}

func (f *rivalFrontier) hostOf(url string) *rivalHost {
	name, _, _ := strings.Cut(url[len("https://"):], "/")
	sum := sha256.Sum256([]byte(name))
	id := binary.BigEndian.Uint64(sum[:])
	h := f.hosts[id]
	if h == nil {
		h = &rivalHost{id: id}
		f.hosts[id] = h
	}
	return h
}

func itemKey(host, order uint64) []byte {
	key := binary.BigEndian.AppendUint64(make([]byte, 0, 17), host)
	return binary.BigEndian.AppendUint64(append(key, 1), order)
}

// totals writes the counts of the hosts and of everything.
func (f *rivalFrontier) totals(tx kvTx, touched map[*rivalHost]bool) error {
	for h := range touched {
		key := binary.BigEndian.AppendUint64(nil, h.id)
		if err := tx.set(hostTable, key, binary.AppendUvarint([]byte{1, 1, 0, 0}, h.count)); err != nil {
			return err
		}
	}
	meta := binary.AppendUvarint([]byte{1}, f.order)
	meta = binary.AppendUvarint(binary.AppendUvarint(meta, f.known), f.left)
	return tx.set(metaTable, []byte("m"), meta)
}

var errNoItems = errors.New("a host that is in the ring has no items")

// take returns up to n items, one of each host in turn.
func (f *rivalFrontier) take(n int) (items []rivalItem, err error) {
	for len(items) < n && len(f.ring) > 0 {
		h := f.ring[0]
		f.ring = f.ring[1:]
		if len(h.items) == 0 {
			if err := f.read(h); err != nil {
				return nil, err
			}
		}
		items = append(items, h.items[0])
		h.items = h.items[1:]
		if h.recorded++; h.recorded < h.count {
			f.ring = append(f.ring, h)
		} else {
			h.inRing = false
		}
	}
	return items, nil
}

// read reads a few items of a host at once, as webrace does.
func (f *rivalFrontier) read(h *rivalHost) error {
	err := f.kv.scan(itemTable, itemKey(h.id, h.from), itemKey(h.id+1, 0), func(key, value []byte) bool {
		h.items = append(h.items, rivalItem{append([]byte{}, key...), append([]byte{}, value...), h})
		h.from = binary.BigEndian.Uint64(key[9:]) + 1
		return len(h.items) < 16
	})
	if err == nil && len(h.items) == 0 {
		err = errNoItems
	}
	return err
}

// done records the visits of a group of items, and takes them off the queue.
func (f *rivalFrontier) done(items []rivalItem, visit []byte) error {
	touched := map[*rivalHost]bool{}
	err := f.kv.commit(func(tx kvTx) error {
		for _, it := range items {
			id := it.value[2:18]
			old, err := tx.get(seenTable, id)
			if err != nil {
				return err
			}
			if old == nil {
				return errNoItems
			}
			if err := tx.remove(itemTable, it.key); err != nil {
				return err
			}
			if err := tx.set(seenTable, id, []byte{1, 0, 0, 0, 1, 1, 1, 0, 1, 0, 0}); err != nil {
				return err
			}
			if err := tx.set(visitTable, id, visit); err != nil {
				return err
			}
			it.host.count--
			it.host.recorded--
			touched[it.host] = true
			f.left--
		}
		return f.totals(tx, touched)
	})
	return err
}
