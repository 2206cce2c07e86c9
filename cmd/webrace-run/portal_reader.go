package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/cmd/internal/storecmd"
	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/pipeline/config"
	"github.com/webrace/webrace/stages/fetch"
	"github.com/webrace/webrace/stages/keywordfilter/explain"
	"github.com/webrace/webrace/stages/portal"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/objects"
	"github.com/webrace/webrace/xmlschema"
)

// asConfigured is where it is found how the process fetches and matches.
type asConfigured struct {
	globals cli.Globals // with the settings of the run
	running []string    // the pipelines
}

func (l *launch) asConfigured() asConfigured {
	globals := *l.globals
	globals.Set = l.set
	return asConfigured{globals, l.names}
}

// fetching returns the options of fetch of the first running pipeline that has it, or else those by which try fetches.
func (c asConfigured) fetching() (fetch.Options, error) {
	load := func(o config.LoadOptions) (*config.Config, error) { return storecmd.LoadWith(&c.globals, o.Run[0]) }
	for _, name := range c.running {
		if options, found, err := optionsOf[fetch.Options](load, name, nil); err != nil || found {
			return options, err
		}
	}
	options, _, err := (&source{}).options(&c.globals)
	return options, err
}

// portalReader looks into a data directory for the people of the portal, with the engines of try, rematch and explain.
// Of a cluster it sees the partition that its session has, and no other.
type portalReader struct {
	asConfigured
	dir     *storage.Dir
	control *control.Store
	cache   *objects.Store
}

var _ portal.Reader = (*portalReader)(nil)

func openPortalReader(dir *storage.Dir, c asConfigured) (portal.Reader, error) {
	r := &portalReader{asConfigured: c, dir: dir}
	var err error
	if r.control, err = dir.Control(); err != nil {
		return nil, err
	}
	r.cache, err = dir.Objects()
	return r, err
}

// withQueues runs f on the queues of all pipelines.
func (r *portalReader) withQueues(f func(explain.Queues) error) error {
	unsaid := func(string, ...any) {} // the rules of what is not set up matter to who operates it
	return storecmd.WithQueues(&r.globals, r.dir, unsaid, f)
}

// draft returns a URD as it would be stored for an owner, and refuses one that would ask with what is not theirs.
func (r *portalReader) draft(ctx context.Context, owner string, u *xmlschema.URD) (control.URD, error) {
	own := *u
	own.Owner, own.Paused = owner, false
	own.ID = cmp.Or(own.ID, xmlschema.DeriveID(owner, own.Source(), own.InterestHash()))
	if err := own.Validate(); err != nil {
		return control.URD{}, err
	}
	if err := r.mayUse(ctx, owner, own.Secrets()); err != nil {
		return control.URD{}, err
	}
	crawl, _, err := control.CrawlOf(&own)
	return control.URD{URD: &own, Crawl: crawl}, err
}

// mayUse refuses secrets that are neither an owner's nor granted to them, as the store does for URDs.
func (r *portalReader) mayUse(ctx context.Context, owner string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	for secret, err := range r.control.Of(owner).Secrets(ctx) {
		if err != nil {
			return err
		}
		names = slices.DeleteFunc(names, func(name string) bool { return name == secret.Name })
	}
	if len(names) > 0 {
		return &control.ForbiddenSecretError{Names: names}
	}
	return nil
}

// unmarked returns a URL without the mark of a request, as people know it.
func unmarked(address string) string {
	url, _ := urlnorm.CutMark(address)
	return url
}
