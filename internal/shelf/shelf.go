// Package shelf is what stages have in common that keep items for a while: a limit to how many there are, and
// the loop that emits them when they are due.
package shelf

import (
	"context"
	"sync"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// Parcel is a value that is ready to be emitted, and the items that it is made of.
type Parcel struct {
	Port  string
	Value any
	Meta  map[string]string
	Group []pipeline.Held
	Size  int // how many of the places on the shelf it takes
}

// Shelf counts what is kept.
type Shelf struct {
	mu      sync.Mutex
	taken   int
	waiting int // for a place
	limit   int
	room    chan struct{} // closed when a place has become free
	wake    chan struct{}
}

// New returns a shelf with so many places.
func New(limit int) *Shelf {
	return &Shelf{limit: limit, room: make(chan struct{}), wake: make(chan struct{}, 1)}
}

// Take takes a place. While there is none, it waits; makeRoom is called first, to say that something must
// leave before its time. When what the place was taken for has been put, [Shelf.Put] is to be called.
func (s *Shelf) Take(ctx context.Context, makeRoom func()) error {
	for {
		s.mu.Lock()
		if s.taken < s.limit {
			s.taken++
			s.mu.Unlock()
			return nil
		}
		room := s.room
		s.waiting++ // before makeRoom: what it does not find yet, Put will
		s.mu.Unlock()
		makeRoom()
		s.Wake()
		select {
		case <-room:
		case <-ctx.Done():
		}
		s.mu.Lock()
		s.waiting--
		s.mu.Unlock()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// Put says that something has been put in its place. If somebody waits for one, it may be what must leave.
func (s *Shelf) Put(makeRoom func()) {
	s.mu.Lock()
	wanted := s.waiting > 0
	s.mu.Unlock()
	if wanted {
		makeRoom()
		s.Wake()
	}
}

// Free gives places back, none at all too: who waits for one looks again for what it can send away.
func (s *Shelf) Free(places int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken -= places
	close(s.room)
	s.room = make(chan struct{})
}

// Wake makes Release look at once whether something is due.
func (s *Shelf) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Contents is what a stage keeps on its shelf.
type Contents interface {
	// Due takes off what is to be emitted by now, everything if nothing more will come, and says when the
	// next will be due: the zero time if that is not known.
	Due(now time.Time, everything bool) (ready []Parcel, next time.Time)
}

// Release emits what is due until nothing more will come, and then the rest: it is [pipeline.Keeper]'s.
func (s *Shelf) Release(ctx context.Context, ended <-chan struct{}, out pipeline.Emitter, c Contents) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	everything := false
	for {
		ready, next := c.Due(time.Now(), everything)
		for i, parcel := range ready {
			if err := pipeline.EmitGroup(ctx, out, parcel.Port, parcel.Value, parcel.Meta, parcel.Group); err != nil {
				letGo(ready[i+1:], err)
				return s.abandon(ctx, ended, c, err)
			}
			s.Free(parcel.Size)
		}
		if everything {
			return nil
		}
		timer.Stop()
		var due <-chan time.Time
		if !next.IsZero() {
			timer.Reset(time.Until(next))
			due = timer.C
		}
		select {
		case <-due:
		case <-s.wake:
		case <-ended:
			everything = true
		case <-ctx.Done():
			return s.abandon(ctx, ended, c, ctx.Err())
		}
	}
}

// abandon lets go of all that is kept, once nobody adds to it any more.
func (s *Shelf) abandon(ctx context.Context, ended <-chan struct{}, c Contents, err error) error {
	if ctx.Err() == nil {
		return err // which ends the run
	}
	<-ended
	ready, _ := c.Due(time.Now(), true)
	letGo(ready, err)
	return err
}

func letGo(parcels []Parcel, err error) {
	for _, parcel := range parcels {
		for _, held := range parcel.Group {
			held.Done(err)
		}
	}
}
