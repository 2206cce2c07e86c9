package pebbledb

import (
	"cmp"
	"fmt"
	"log/slog"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/webrace/webrace/internal/descriptors"
	"github.com/webrace/webrace/storage/diskspace"
)

// report lets the database report to its log, and bounds the files that it keeps open.
func report(o Options, p *pebble.Options) {
	l := logger{cmp.Or(o.Logger, slog.Default()), o.Name, o.Fatal}
	p.Logger = l
	p.EventListener = &pebble.EventListener{BackgroundError: l.failed, DataCorruption: l.damaged}
	if p.FS == nil {
		p.FS = vfs.Default
	}
	p.FS = logSystem{p.FS, l.end}
	p.MaxOpenFiles = min(mostOpen, descriptors.Limit()/10) // each of five databases; the rest is for connections
}

// mostOpen is how many files a database keeps open where the system gives enough of them.
const mostOpen = 1000

type logger struct {
	log   *slog.Logger
	name  string
	fatal func(error)
}

// Infof leaves out the news of compactions, which concern no user.
func (l logger) Infof(string, ...any) {}

func (l logger) Errorf(f string, args ...any) { l.log.Error(l.name, "error", fmt.Sprintf(f, args...)) }

// Fatalf must not return: pebble calls it when it cannot go on.
func (l logger) Fatalf(f string, args ...any) { l.end(fmt.Errorf(f, args...)) }

func (l logger) end(err error) {
	err = fmt.Errorf("%s: %w", l.name, err)
	if l.fatal != nil {
		l.fatal(err)
	}
	panic(err)
}

// failed hears of a flush or compaction that failed. Pebble repeats it at once, without end, so on a full disk that no
// [diskspace.Watch] waits for it would take a processor for as long as the disk is full.
func (l logger) failed(err error) {
	if diskspace.IsFull(err) {
		l.end(err)
	}
	l.Errorf("background error: %s", err)
}

// damaged hears of a damaged table. Its readers get an error, so the database goes on.
func (l logger) damaged(i pebble.DataCorruptionInfo) {
	l.log.Error(l.name+" is damaged", "file", i.Path)
}
