package storage

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/webrace/webrace/internal/urlnorm"
	"github.com/webrace/webrace/storage/control"
	"github.com/webrace/webrace/storage/frontier"
	"github.com/webrace/webrace/storage/objects"
)

// Division copies what a data directory has of documents, and of URLs that are to be fetched, into directories of which
// each gets the hosts of one part.
//
// It guarantees: each directory is there as a whole, or not at all; what is stored of a host is in one of them, as it
// was, with the numbers of versions, and what was found at its last visits; and the directory itself stays as it is.
type Division struct {
	of      func(host string) int
	id      BackupID
	scratch string             // the directory of hosts
	hosts   *frontier.Division // nil until it is needed
	fatal   func(error)

	frontier *frontier.Store // nil: there is none
	objects  *objects.Store  // the same
}

// Divide begins the copying. The part of a host is what the function says. What is needed meanwhile is in a directory,
// in the place of what an earlier attempt has left there. The data directory is to stay open, and nothing is to be
// written to it, until the end.
func (d *Dir) Divide(ctx context.Context, scratch string, of func(host string) int) (v *Division, err error) {
	v = &Division{of: of, scratch: scratch, fatal: d.options.Fatal}
	if exists(d.Path("frontier")) {
		if v.frontier, err = d.Frontier(); err != nil {
			return nil, err
		}
	}
	if exists(d.Path("objects")) {
		if v.objects, err = d.Objects(); err != nil {
			return nil, err
		}
	}
	if v.id, err = d.stateID(ctx, v); err != nil {
		return nil, err
	}
	return v, nil
}

// gather gathers which URLs there are, unless that is done.
func (v *Division) gather(ctx context.Context) (err error) {
	if v.hosts != nil {
		return nil
	}
	if err := os.RemoveAll(v.scratch); err != nil {
		return err
	}
	hosts, err := frontier.NewDivision(v.scratch, v.of, v.fatal)
	if err != nil {
		return err
	}
	v.hosts = hosts
	if v.objects != nil {
		err = v.objects.Named(ctx, v.name)
	}
	if v.frontier != nil && err == nil {
		err = v.frontier.Divide(ctx, v.hosts)
	}
	return err
}

// stateID tells the state of the stores from all others: by how many commits each has had.
func (d *Dir) stateID(ctx context.Context, v *Division) (BackupID, error) {
	requests, err := d.Control()
	if err != nil {
		return 0, err
	}
	of, err := control.GenerationOf(ctx, requests)
	if err != nil {
		return 0, err
	}
	all := fmt.Appendf(nil, "%x", of)
	if v.frontier != nil {
		all = fmt.Appendf(all, " frontier %x", v.frontier.Generation())
	}
	if v.objects != nil {
		all = fmt.Appendf(all, " objects %x", v.objects.Generation())
	}
	sum := sha256.Sum256(all)
	return BackupID(binary.BigEndian.Uint64(sum[:]) >> (64 - BackupBits)), nil
}

// name adds a document, and where it leads: most URLs that redirect are known to the frontier by a hash alone.
func (v *Division) name(secret, url string, links []string) error {
	err := v.hosts.Add(secret, url)
	for i := 0; i < len(links) && err == nil; i++ {
		err = v.hosts.Add(secret, links[i])
	}
	return err
}

// Close ends the copying.
func (v *Division) Close() (err error) {
	if v.hosts != nil {
		err = errors.Join(v.hosts.Close(), os.RemoveAll(v.scratch))
	}
	return err
}

// ID is the same for all copies of the directory in the same state.
func (v *Division) ID() BackupID { return v.id }

// Waiting returns which crawls wait for URLs in other parts than those in which they begin.
func (v *Division) Waiting(ctx context.Context) ([]frontier.Waits, error) {
	if v.frontier == nil {
		return nil, nil
	}
	return v.frontier.Waiting(ctx, v.of)
}

// CopyPart makes a directory with what there is of a part, and notes in it from which state that is. If it is there
// already, with that note, nothing is done.
func (v *Division) CopyPart(ctx context.Context, part int, path string) error {
	if is, err := HasMoved(path, v.id); is || err != nil {
		return err
	}
	if exists(path) {
		return fmt.Errorf("%s is there already, and is of something else: move it away", path)
	}
	draft := path + ".partial"
	if err := errors.Join(os.RemoveAll(draft), v.gather(ctx)); err != nil {
		return err
	}
	if err := v.copyPart(ctx, part, draft); err != nil {
		return fmt.Errorf("copy part %d to %s: %w", part, path, err)
	}
	if err := errors.Join(MarkMoved(draft, v.id), flushAll(draft)); err != nil {
		return err
	}
	return Rename(draft, path)
}

func (v *Division) copyPart(ctx context.Context, part int, path string) error {
	to, err := Open(path, Options{Fatal: v.fatal})
	if err != nil {
		return err
	}
	if v.frontier != nil {
		store, wrong := to.Frontier()
		if err = wrong; err == nil {
			err = v.frontier.CopyPart(ctx, store, v.hosts, part)
		}
	}
	if v.objects != nil && err == nil {
		store, wrong := to.Objects()
		if err = wrong; err == nil {
			err = v.objects.CopyPart(ctx, store, func(url string) bool { return v.of(urlnorm.Host(url)) == part })
		}
	}
	if err = errors.Join(err, to.Close()); err != nil {
		return err
	}
	return restartFollowers(path)
}
