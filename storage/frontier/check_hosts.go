package frontier

import (
	"fmt"

	"github.com/webrace/webrace/internal/scope"
)

func hostTitle(id hostID) string { return fmt.Sprintf("host %x", uint64(id)) }

// hosts holds the records of hosts, and the keys that lead to them, against their items. Items lie together
// by host.
func (c *check) hosts() error {
	var host hostID
	var count [levels]uint64
	some := false
	err := c.each(kindItem, func(key, value []byte) error {
		it, err := decodeItem(value)
		if err != nil {
			return nil // told of already
		}
		id, at := hostID(be64(key[3:])), level(key[11])
		if some && id != host {
			if err := c.host(host, count); err != nil {
				return err
			}
			count = [levels]uint64{}
		}
		some, host = true, id
		if at >= levels {
			return nil
		}
		rec, err := c.store.readRecord(c.keys, it.id)
		if err == nil && rec != nil && rec.place == (place{kind: inHostQueue, level: at, order: lastNumber(key)}) {
			count[at]++
		}
		return nil
	})
	if err != nil || !some {
		return err
	}
	return c.host(host, count)
}

// host checks one host that has items.
func (c *check) host(id hostID, count [levels]uint64) error {
	h, err := c.store.readHost(c.keys, id)
	if err != nil {
		h = &hostRecord{parallel: 1}
	}
	save := func() error { return c.Set(c.keys.host(id), h.encode()) }
	if was := h.items; was != count {
		h.items = count
		if err := c.found(wrongHostCount, hostTitle(id), save, "it has %v items, and %v are written", count, was); err != nil {
			return err
		}
	}
	if waits, err := c.waits(id, h); waits || err != nil {
		return err
	}
	for i, n := range count {
		key := c.keys.ready(level(i), id)
		there, err := c.Has(key)
		if err != nil {
			return err
		}
		if n == 0 || there {
			continue
		}
		if err := c.found(strandedHost, hostTitle(id), func() error { return c.Set(key, nil) }, "nothing leads to its %d items", n); err != nil {
			return err
		}
	}
	return nil
}

// waits reports whether a host is parked, and checks that something ends that.
func (c *check) waits(id hostID, h *hostRecord) (bool, error) {
	if h.parked == 0 {
		return false, nil
	}
	key := c.keys.timed(kindParked, h.parked, uint64(id))
	if there, err := c.Has(key); there || err != nil {
		return true, err
	}
	if h.parked == never { // it was paused
		name, err := c.nameOf(id)
		if err != nil {
			return true, err
		}
		if name != "" {
			return true, c.found(strandedHost, name, func() error { return c.Set(key, pausedValue(name)) }, "it is paused, and nothing lists it")
		}
	}
	h.parked = 0
	return false, c.found(strandedHost, hostTitle(id), func() error { return c.Set(c.keys.host(id), h.encode()) },
		"it waits, and nothing ends that")
}

// nameOf returns the name of a host that has items, as one of them tells; empty for any other.
func (c *check) nameOf(id hostID) (name string, err error) {
	err = c.store.db.Scan(c.keys.item(id, 0, 0), c.keys.item(id, levels, 0), func(_, value []byte) (bool, error) {
		if it, err := decodeItem(value); err == nil && it.host() == id {
			name, _ = scope.Host(it.url)
		}
		return name == "", nil
	})
	return name, err
}

// strayHosts checks the hosts without items, and the keys that lead to hosts.
func (c *check) strayHosts() error {
	err := c.each(kindHost, func(key, value []byte) error {
		h, err := decodeHost(value)
		if err != nil {
			return err
		}
		id := hostID(lastNumber(key))
		if h.items == ([levels]uint64{}) {
			_, err := c.waits(id, h)
			return err
		}
		any := false
		err = c.store.db.Scan(c.keys.item(id, 0, 0), c.keys.item(id, levels, 0), func(_, _ []byte) (bool, error) {
			any = true
			return false, nil
		})
		if err != nil || any {
			return err
		}
		was := h.items
		h.items = [levels]uint64{}
		return c.found(wrongHostCount, hostTitle(id), func() error { return c.Set(c.keys.host(id), h.encode()) },
			"it has no items, and %v are written", was)
	})
	if err != nil {
		return err
	}
	err = c.each(kindReady, func(key, _ []byte) error {
		id, at := hostID(lastNumber(key)), key[3]
		h, err := c.store.readHost(c.keys, id)
		if err == nil && at < levels && h.items[at] > 0 && h.parked == 0 {
			return nil
		}
		return c.found(strayHostKey, hostTitle(id), c.removing(key), "it has nothing ready")
	})
	if err != nil {
		return err
	}
	return c.each(kindParked, func(key, _ []byte) error {
		id := hostID(lastNumber(key))
		if h, err := c.store.readHost(c.keys, id); err == nil && h.parked == dueOf(key) {
			return nil
		}
		return c.found(strayHostKey, hostTitle(id), c.removing(key), "it does not wait until then")
	})
}
