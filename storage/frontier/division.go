package frontier

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage/internal/generation"
	"github.com/webrace/webrace/storage/internal/pebbledb"
	"github.com/webrace/webrace/storage/internal/private"
)

// A frontier knows URLs and hosts by hashes alone, which do not tell in which part of a cluster a host is. So who
// divides one first gathers all URLs that are written down anywhere. What is known of a URL that is not among them,
// because only pages that were removed since led there, goes with every part: nothing of it is lost, and all parts but
// one have it in vain.

// Division tells in which part of a cluster hosts and URLs are that are known by hashes. It is on disk, and to be
// thrown away.
type Division struct {
	of    func(host string) int
	db    pebbledb.DB
	batch pebbledb.Batch
	last  string // the host that was put last
}

// The keys of a division: the hashes behind a letter. The values are the numbers of the parts.
const (
	dividedURL  = 'u'
	dividedHost = 'h'
)

// NewDivision makes an empty one in a directory that is not there, in which the part of a host is what the function
// says. For fatal, see [Options].
func NewDivision(dir string, of func(host string) int, fatal func(error)) (*Division, error) {
	db, err := pebbledb.Open(dir, pebbledb.Options{
		Name: "division of the frontier", FS: private.Disk, WithoutLog: true, Memtable: 16 << 20, FewTables: true, Fatal: fatal,
	})
	if err != nil {
		return nil, fmt.Errorf("divide the frontier: %w", err)
	}
	return &Division{of: of, db: db, batch: db.NewBatch()}, nil
}

// Close forgets all.
func (d *Division) Close() error { return errors.Join(d.batch.Close(), d.db.Close()) }

// Add adds a URL as it is fetched with credentials, or without any if they have no name.
func (d *Division) Add(secret, url string) error {
	err := d.put(identify(secret, url), url)
	if identity := urlnorm.Identity(url); err == nil && identity != url {
		err = d.put(identify(secret, identity), url)
	}
	return err
}

func (d *Division) put(id urlID, url string) error {
	host, ok := scope.Host(url)
	if !ok {
		return nil
	}
	part := binary.BigEndian.AppendUint16(nil, uint16(d.of(host)))
	err := d.batch.Set(append([]byte{dividedURL}, id[:]...), part)
	if host != d.last && err == nil {
		d.last = host
		err = d.batch.Set(binary.BigEndian.AppendUint64([]byte{dividedHost}, uint64(hostOf(host))), part)
	}
	if err != nil || d.batch.Len() < 1<<20 {
		return err
	}
	return d.flush()
}

func (d *Division) flush() error {
	err := errors.Join(d.batch.Commit(pebbledb.NoSync), d.batch.Close())
	d.batch = d.db.NewBatch()
	return err
}

// partOf returns the part of a URL that is written down.
func (d *Division) partOf(url string) int {
	host, _ := scope.Host(url)
	return d.of(host)
}

// host returns the part of a host by its hash, if that is known.
func (d *Division) host(hash []byte) (part int, known bool, err error) {
	value, err := pebbledb.Get(d.db, append([]byte{dividedHost}, hash...))
	if err != nil || value == nil {
		return 0, false, err
	}
	return int(binary.BigEndian.Uint16(value)), true, nil
}

// in returns a function that tells of hashes, which come in their order, whether they are known to be in another part.
func (d *Division) in(part int, letter byte) (elsewhere func(hash []byte) bool, end func() error, err error) {
	it, err := d.db.NewIter(pebbledb.Under([]byte{letter}))
	if err != nil {
		return nil, nil, err
	}
	more := it.First()
	return func(hash []byte) bool {
		for more && bytes.Compare(it.Key()[1:], hash) < 0 {
			more = it.Next()
		}
		return more && bytes.Equal(it.Key()[1:], hash) && int(binary.BigEndian.Uint16(it.Value())) != part
	}, func() error { return errors.Join(it.Error(), it.Close()) }, nil
}

// Generation tells a state of the store from all others.
func (s *Store) Generation() generation.Generation { return s.db.Generation() }

// Divide adds the URLs that the frontier has written down.
func (s *Store) Divide(ctx context.Context, d *Division) error {
	err := s.eachPipeline(func(_ string, k keys, crawls *registry) error {
		for _, cr := range crawls.all() {
			p := cr.pass()
			for _, url := range append([]string{p.Start, p.landing.url}, p.moves...) {
				if err := d.Add(p.Secret, url); err != nil {
					return err
				}
			}
		}
		return errors.Join(s.divideItems(ctx, k, d), s.divideFailures(ctx, k, d), s.divideRedirects(ctx, k, crawls, d))
	})
	if err == nil {
		err = d.flush()
	}
	if err != nil {
		return fmt.Errorf("divide the frontier: %w", err)
	}
	return nil
}

// eachPipeline calls visit with the keys of each pipeline, and its crawls.
func (s *Store) eachPipeline(visit func(name string, k keys, crawls *registry) error) error {
	names, err := s.Pipelines()
	for _, name := range names {
		var k keys
		var all registry
		if err == nil {
			k, _, err = s.knownKeys(name)
		}
		if err == nil {
			err = all.load(s, k)
		}
		if err == nil {
			err = visit(name, k, &all)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return err
}

// items calls visit with each URL that is queued.
func (s *Store) items(ctx context.Context, k keys, visit func(key []byte, it item) error) error {
	for _, kind := range []byte{kindItem, kindDelayed} {
		err := s.db.Scan(k.start(kind), k.end(kind), func(key, value []byte) (bool, error) {
			it, err := decodeItem(value)
			if err == nil {
				err = errors.Join(ctx.Err(), visit(key, it))
			}
			return true, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) divideItems(ctx context.Context, k keys, d *Division) error {
	return s.items(ctx, k, func(_ []byte, it item) error { return d.put(it.id, it.url) })
}

func (s *Store) divideFailures(ctx context.Context, k keys, d *Division) error {
	return s.db.Scan(k.start(kindFailed), k.end(kindFailed), func(key, value []byte) (bool, error) {
		r := newReader(value)
		url := r.Text()
		return true, errors.Join(ctx.Err(), r.done(), d.put(urlID(key[len(key)-len(urlID{}):]), url))
	})
}

// divideRedirects adds where URLs were redirected to.
func (s *Store) divideRedirects(ctx context.Context, k keys, crawls *registry, d *Division) error {
	var rec record
	return s.db.Scan(k.start(kindSeen), k.end(kindSeen), func(_, value []byte) (bool, error) {
		err := rec.decode(value)
		if err != nil || rec.redirect == "" || len(rec.marks) == 0 {
			return true, errors.Join(ctx.Err(), err)
		}
		cr, err := crawls.numbered(rec.marks[0].crawl)
		if err == nil {
			err = d.Add(cr.pass().Secret, rec.redirect)
		}
		return true, err
	})
}

// Waits is a pass of a crawl that waits for URLs in another part than that in which it begins.
type Waits struct {
	Pipeline string
	Part     int
	Pass
}

// Waiting returns which passes wait for URLs in other parts than those in which they begin, each once.
func (s *Store) Waiting(ctx context.Context, of func(host string) int) (all []Waits, err error) {
	d := &Division{of: of}
	err = s.eachPipeline(func(name string, k keys, crawls *registry) error {
		known := make(map[Waits]bool)
		return s.items(ctx, k, func(_ []byte, it item) error {
			rec, err := s.readRecord(k, it.id)
			if err != nil || rec == nil {
				return err
			}
			for _, m := range rec.marks {
				cr, err := crawls.numbered(m.crawl)
				if err != nil {
					return err
				}
				p := cr.pass()
				w := Waits{name, d.partOf(it.url), Pass{p.ID, p.number}}
				if m.queued && w.Part != d.partOf(p.Start) && !known[w] {
					known[w], all = true, append(all, w)
				}
			}
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("what crawls wait for: %w", err)
	}
	return all, nil
}
