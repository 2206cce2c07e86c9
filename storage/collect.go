package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/fulltext"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/storage/quads"
)

// Retention is how long what is stored is kept. Zero durations keep for good.
type Retention struct {
	Versions    time.Duration // versions that an annotation speaks of, since they were last known to be current
	Unmatched   time.Duration // other versions, likewise
	Annotations time.Duration // until one that waits expires; and, once it was retrieved or has expired, until it is removed
	MaxBytes    int64         // of documents on disk; above it the oldest versions go before their time. 0 has no limit
}

// Collected is what a collection of garbage removed.
type Collected struct {
	objects.Collected
	Expired int // annotations that their owners did not retrieve in time
	Trimmed int // annotations removed
	Quads   quads.Collected
}

// Collect removes what is older than its retention, and gives back the space. It may run while the directory
// is in use. It never removes a version that an owner still waits for: one that an annotation speaks of
// which is neither retrieved nor expired. A page that is visited regularly keeps its latest version, since
// each visit confirms it. What is removed is no longer found in full text, and a document of which no version is left
// states nothing any more in the quad store.
func (d *Dir) Collect(ctx context.Context, r Retention) (Collected, error) {
	d.keeping.Lock()
	defer d.keeping.Unlock()
	c, err := d.collect(ctx, r)
	if err != nil {
		return c, fmt.Errorf("collect garbage of %s: %w", d.path, err)
	}
	return c, nil
}

func (d *Dir) collect(ctx context.Context, r Retention) (c Collected, err error) {
	requests, err := d.Control()
	if err != nil {
		return c, err
	}
	documents, err := d.Objects()
	if err != nil {
		return c, err
	}
	if r.Annotations > 0 {
		limit := time.Now().Add(-r.Annotations)
		if c.Expired, err = requests.Expire(ctx, limit); err != nil {
			return c, err
		}
		if c.Trimmed, err = requests.Trim(ctx, limit); err != nil {
			return c, err
		}
	}
	u := unfind{d, ctx}
	judge := judge{requests, r, time.Now()}
	c.Collected, err = documents.Collect(ctx, objects.CollectOptions{
		Verdict: judge.verdicts, Confirm: judge.confirm, Removed: u.removed, MaxBytes: r.MaxBytes,
	})
	if err != nil || !exists(d.Path("quads")) {
		return c, err
	}
	store, err := d.Quads()
	if err == nil {
		c.Quads, err = store.Collect(ctx, storedIn(ctx, documents))
	}
	return c, err
}

// WouldCollect returns how many versions a collection would remove for their age, and the size of their bodies.
func (d *Dir) WouldCollect(ctx context.Context, r Retention) (versions int, bytes int64, err error) {
	requests, err := d.Control()
	if err != nil {
		return 0, 0, err
	}
	documents, err := d.Objects()
	if err != nil {
		return 0, 0, err
	}
	judge := judge{requests, r, time.Now()}
	for latest, err := range documents.Views(ctx, "") {
		if err != nil {
			return versions, bytes, err
		}
		all, err := documents.Versions(latest.View())
		if errors.Is(err, objects.ErrNotFound) {
			continue // removed since
		}
		if err != nil {
			return versions, bytes, err
		}
		verdicts, err := judge.verdicts(ctx, all)
		if err != nil {
			return versions, bytes, err
		}
		for i, verdict := range verdicts {
			if verdict == objects.Remove {
				versions++
				bytes += all[i].Size
			}
		}
	}
	return versions, bytes, nil
}

// judge decides which versions go.
type judge struct {
	requests  *control.Store
	retention Retention
	now       time.Time
}

// age is how long a version has not been known to be current.
func (j *judge) age(v *objects.Version) time.Duration { return j.now.Sub(v.ValidatedAt) }

func (j *judge) verdicts(ctx context.Context, versions []objects.Version) ([]objects.Verdict, error) {
	verdicts := make([]objects.Verdict, len(versions))
	var old []objects.Version // and nothing is asked about the others
	var at []int
	r := j.retention
	for i := range versions {
		age := j.age(&versions[i])
		if r.MaxBytes > 0 || r.Versions > 0 && age > r.Versions || r.Unmatched > 0 && age > r.Unmatched {
			old, at = append(old, versions[i]), append(at, i)
		}
	}
	if len(old) == 0 {
		return verdicts, nil
	}
	refs := refsTo(old)
	waiting, err := j.requests.Waiting(ctx, refs)
	if err != nil {
		return nil, err
	}
	referred, err := j.requests.Referred(ctx, refs)
	if err != nil {
		return nil, err
	}
	for i, ref := range refs {
		if !waiting[ref] {
			verdicts[at[i]] = j.verdict(&old[i], referred[ref])
		}
	}
	return verdicts, nil
}

// verdict judges a version that no owner waits for.
func (j *judge) verdict(v *objects.Version, referred bool) objects.Verdict {
	kept := j.retention.Unmatched
	if referred {
		kept = j.retention.Versions
	}
	switch {
	case kept > 0 && j.age(v) > kept:
		return objects.Remove
	case j.retention.MaxBytes > 0:
		return objects.May
	}
	return objects.Keep
}

// confirm returns which versions no owner waits for, when none can come to do so any more.
func (j *judge) confirm(ctx context.Context, versions []objects.Version) ([]bool, error) {
	refs := refsTo(versions)
	waiting, err := j.requests.Waiting(ctx, refs)
	if err != nil {
		return nil, err
	}
	remove := make([]bool, len(versions))
	for i, ref := range refs {
		remove[i] = !waiting[ref]
	}
	return remove, nil
}

func refsTo(versions []objects.Version) []control.VersionRef {
	refs := make([]control.VersionRef, len(versions))
	for i, v := range versions {
		refs[i] = control.VersionRef{URL: v.URL, Version: v.Number}
	}
	return refs
}

// unfind brings the full-text index in line with what was removed.
type unfind struct {
	dir *Dir
	ctx context.Context
}

func (u unfind) removed(urls []string) error {
	if !exists(u.dir.Path("fulltext")) {
		return nil
	}
	index, err := ready(u.dir, &u.dir.fulltext)
	if errors.Is(err, fulltext.ErrFormat) || errors.Is(err, fulltext.ErrCorrupt) {
		return nil // it is made anew of what is stored
	}
	if err != nil {
		return err
	}
	return index.Refresh(u.ctx, urls)
}

// String describes it to a person.
func (c Collected) String() string {
	s := fmt.Sprintf("%s removed, %s with them", count(c.Versions, "version", "versions"), count(c.Bodies, "body", "bodies"))
	if c.Kept > 0 {
		s += fmt.Sprintf(", %d kept for owners who wait", c.Kept)
	}
	if c.Quads.Contexts > 0 {
		s += fmt.Sprintf("; %s of %s removed", count(c.Quads.Quads, "quad", "quads"), count(c.Quads.Contexts, "context", "contexts"))
	}
	return s + fmt.Sprintf("; %s expired, %d removed; %s given back", count(c.Expired, "annotation", "annotations"), c.Trimmed, terminal.Size(c.Freed))
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
