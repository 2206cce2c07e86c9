// Package explain says of a URL what each URD of an owner has to do with it, what an owner would be told of what is
// stored, by their URDs as they are or by a draft, and what a document is worth to URDs, where neither need be stored:
// for commands, and for whoever else shows it to people.
package explain

import (
	"context"
	"errors"

	"github.com/webrace/webrace/stages/keywordfilter/annotate"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/storage/states"
)

// Page is what is known of a URL.
type Page struct {
	*Reach
	*Stored // nil when it is not in the object cache
	control *control.Store
	cache   *objects.Store
	states  *states.Store
	looked  map[string]annotate.Looked // by the id of the URD
}

// LookUp finds what is known of a URL, as who asks with some credentials sees it, or with none.
func LookUp(ctx context.Context, dir *storage.Dir, queues Queues, secret, url string) (*Page, error) {
	p := &Page{}
	var err error
	if p.control, err = dir.Control(); err != nil {
		return nil, err
	}
	if p.states, err = dir.States(); err != nil {
		return nil, err
	}
	cache, err := dir.Objects()
	if err != nil {
		return nil, err
	}
	p.cache = cache
	url = cache.Spelling(secret, url)
	if p.Reach, err = queues.ReachOf(secret, url); err != nil {
		return nil, err
	}
	version, err := cache.Latest(objects.View(secret, url))
	if errors.Is(err, objects.ErrNotFound) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	if p.Stored, err = Read(ctx, cache, version); err != nil {
		return nil, err
	}
	p.Reach.Source = p.Stored.Source
	return p, nil
}

// LookAtParts finds the parts of the page at which those of an owner's URDs look that are asked: together they have one
// budget.
func (p *Page) LookAtParts(ctx context.Context, urds []control.URD) error {
	if p.Stored == nil {
		return nil
	}
	var ids []string
	var interests []*annotate.Interest
	for _, u := range urds {
		interest, err := annotate.NewInterest(u.URD)
		if asked, _ := p.Asks(u); asked && err == nil { // what is wrong with one is said where it is explained
			ids, interests = append(ids, u.ID), append(interests, interest)
		}
	}
	p.looked = make(map[string]annotate.Looked)
	for i, looked := range annotate.Parts(ctx, interests, p.Parts) {
		p.looked[ids[i]] = looked
	}
	return ctx.Err()
}
