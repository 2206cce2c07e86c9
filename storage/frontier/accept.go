package frontier

// accept queues a URL for the crawls that come to it newly, or nearer, and returns why when none does.
func (c *changes) accept(cand *candidate) (Reason, error) {
	rec, says, err := c.known(cand)
	if err != nil {
		return 0, err
	}
	wanted, _, err := c.q.waitedFor(rec)
	if err != nil {
		return 0, err
	}
	if len(rec.marks) == 0 {
		if why, err := c.admitNew(cand); why != accepted || err != nil {
			return why, err
		}
	}
	cand.again = cand.again && rec.redirect != ""
	news, full := c.mark(rec, cand)
	if cand.again {
		rec.redirect, rec.dirty = "", true
		news = c.q.repeat(cand.item) || news
	}
	if says != nil && len(rec.marks) > 0 {
		says.spell(rec, cand.url)
	}
	inherits, err := c.inherit(rec, cand)
	if err != nil {
		return 0, err
	}
	switch {
	case !news && full:
		return CrawlFull, nil
	case !news:
		if err := c.raise(rec, cand); err != nil {
			return 0, err
		}
		return Repeat, c.joined(rec, cand, inherits)
	}
	rec.dirty = true
	_, at, err := c.q.waitedFor(rec)
	if err != nil {
		return 0, err
	}
	switch {
	case rec.place.kind == inHostQueue && (at < rec.place.level || !wanted):
		// It is more urgent now, or may have been passed over because no crawl of this run wanted it.
		if err := c.dequeue(rec, cand.host); err != nil {
			return 0, err
		}
	case rec.place.kind != nowhere:
		if err := c.raise(rec, cand); err != nil {
			return 0, err
		}
		return accepted, c.joined(rec, cand, true)
	}
	return accepted, c.enqueue(rec, cand.item, cand.host, at)
}

// mark notes in the record of a URL the crawls that come to it. It reports whether one comes newly, or nearer, and
// whether one was left out because it has come to as many URLs as it may.
func (c *changes) mark(rec *record, cand *candidate) (news, full bool) {
	for i := range cand.bids {
		b := &cand.bids[i]
		b.round = b.crawl.pass().number
		m := rec.mark(b.crawl.number)
		if m == nil {
			if !c.q.hasRoom(b.crawl, cand.start) {
				full = true
				continue
			}
			m = rec.addMark(b.crawl.number)
			b.crawl.known.Add(1)
		}
		if m.round == b.round && m.distance <= b.distance && (m.queued || !cand.again) {
			continue
		}
		news = true
		if !m.queued && m.round != b.round || b.distance < m.distance {
			m.distance = b.distance
		}
		m.round = b.round
		c.await(b.crawl, m, true)
	}
	return news, full
}

// waitedFor reports whether a crawl of this run waits for a URL, and the level of the most urgent crawl
// that does, of this run or not.
func (q *Queue) waitedFor(rec *record) (now bool, at level, err error) {
	at = levelOf(1)
	for _, m := range rec.marks {
		if !m.queued {
			continue
		}
		cr, err := q.crawls.numbered(m.crawl)
		if err != nil {
			return false, 0, err
		}
		now = now || cr.active.Load()
		at = min(at, levelOf(cr.pass().Urgency))
	}
	return now, at, nil
}

// joined lets the item of a queued URL, which others have come to now, not tell how one crawl came to it; and tell
// when the page was changed, if that is listed.
func (c *changes) joined(rec *record, cand *candidate, others bool) error {
	if rec.place.kind != inHostQueue || !others && cand.changed == 0 {
		return nil
	}
	key, it, err := c.queued(rec, cand.host)
	if err != nil || key == nil {
		return err
	}
	before := it
	if others {
		it.alone = coming{}
	}
	if cand.changed != 0 {
		it.changed = cand.changed
	}
	if it == before {
		return nil
	}
	c.altered = append(c.altered, spot{hostQueueID{cand.host, rec.place.level}, rec.place.order, cand.changed})
	c.writes.set(key, it.encode())
	return nil
}

// queued returns the item of a URL in its host queue, and its key; nil if it is not there.
func (c *changes) queued(rec *record, host hostID) (key []byte, it item, err error) {
	key = c.q.keys.item(host, rec.place.level, rec.place.order)
	var value []byte
	if rec.dirty { // else it was not written in this group; to look is slow
		value = c.writes.last(key)
	}
	if value == nil {
		if value, err = c.q.store.db.Value(key); err != nil || value == nil {
			return nil, it, err
		}
	}
	it, err = decodeItem(value)
	return key, it, err
}

// enqueue puts an item into its host queue, where the order of the queue wants it.
func (c *changes) enqueue(rec *record, it item, host hostID, at level) error {
	h, err := c.host(host)
	if err != nil {
		return err
	}
	order := c.nextOrder(rec, &it)
	if rec.place.kind == nowhere {
		c.q.count.queued++
	}
	rec.place = place{kind: inHostQueue, level: at, order: order}
	rec.dirty = true
	it.alone, it.aside = rec.alone(), 0
	h.items[at]++
	h.dirty = true
	if h.parked == 0 {
		c.ready(hostQueueID{host, at}, stretch{order, order})
		if h.items[at] == 1 {
			c.writes.set(c.q.keys.ready(at, host), nil)
		}
	}
	c.writes.open(c.q.keys.item(host, at, order))
	c.writes.data = it.append(c.writes.data)
	c.writes.close()
	return nil
}
