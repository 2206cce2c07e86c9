package storecmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/internal/terminal"
	"github.com/webrace/webrace/internal/wording"
	"github.com/webrace/webrace/storage"
	"github.com/webrace/webrace/storage/cluster"
	"github.com/webrace/webrace/storage/fsck"
)

// giveTo gives the partition to a node, in a backup, or goes on with that; or takes it back, if that is this node.
func (m *move) giveTo(to int, into string) error {
	if to >= m.Nodes {
		return cli.Wrongf("--to %d: the cluster has %s, from 0 to %d", to, wording.Count(m.Shape.Nodes, "node"), m.Shape.Nodes-1)
	}
	if into == "" && to != m.node {
		return cli.Wrongf("--into DIR says where its backup is to be written, which node %d takes it in from", to)
	}
	node, way, err := m.Holder(m.c.Context(), m.partition)
	switch {
	case err != nil:
		return &cli.Error{Status: cli.Environment, Err: err}
	case way == nil && node == to:
		return m.say("%s is node %d's already", m.name(), to)
	case way == nil && node != m.node:
		return fmt.Errorf("%s is node %d's: give the command there", m.name(), node)
	case way == nil:
		return m.give(to, into)
	case to == m.node:
		return m.takeBack(*way)
	case way.To == to:
		return m.finish(*way, into)
	}
	return fmt.Errorf("%s is on its way to node %d already: webrace-store cluster move %d --to N, on the node N that had it, takes it back", m.name(), way.To, m.partition)
}

// draftOf is where a backup is made before it is at its place, where it is only when the partition was given away.
func (m *move) draftOf(into string) string {
	return filepath.Clean(into) + "." + cli.PartitionName(m.partition) + ".partial"
}

// give backs the partition up, and puts it on its way. Until that is noted in the database, the node has it, and a
// backup that is begun means nothing.
func (m *move) give(to int, into string) error {
	draft := m.draftOf(into)
	switch _, err := os.Stat(filepath.Join(m.path, "format")); {
	case err != nil:
		return fmt.Errorf("%s was never opened here: start the node once, or restore the partition from a backup (webrace-store restore --data %s): %w", m.name(), m.path, err)
	case isThere(into):
		return cli.Wrongf("--into %s is not empty", into)
	}
	if err := os.RemoveAll(draft); err != nil {
		return err
	}
	outside, err := m.stores.Control()
	if err != nil {
		return err
	}
	dir, err := m.place.OpenPartition(m.partition, outside, storage.Options{})
	if err != nil {
		return err
	}
	way, err := m.backUp(dir, to, draft)
	if err == nil { // the partition is locked: nothing is written that is not in the backup
		err = m.Give(m.c.Context(), m.partition, way)
	}
	if err := errors.Join(err, dir.Close()); err != nil {
		return err
	}
	ReachedInMove("given")
	return m.finish(way, into)
}

// backUp writes a backup of the partition, and notes in that in which it goes.
func (m *move) backUp(dir *storage.Dir, to int, draft string) (way cluster.Way, err error) {
	err = m.mustBeSound(func(ctx context.Context, report fsck.Report) error { return dir.Check(ctx, false, report) },
		"webrace-store fsck --repair --data "+m.path+" repairs what can be")
	if err != nil {
		return way, err
	}
	if _, err = dir.Backup(m.c.Context(), draft); err != nil {
		return way, err
	}
	ReachedInMove("backed up")
	err = m.mustBeSound(func(ctx context.Context, report fsck.Report) error {
		_, err := storage.Verify(ctx, draft, report)
		return err
	}, "it was not given away")
	if err != nil {
		return way, err
	}
	id, err := storage.IDOfBackup(draft)
	if err == nil {
		err = storage.MarkMoved(m.path, id)
	}
	ReachedInMove("verified")
	return cluster.Way{To: to, Backup: uint64(id)}, err
}

// mustBeSound refuses to go on if a check finds anything.
func (m *move) mustBeSound(check func(context.Context, fsck.Report) error, advice string) error {
	var found int
	var writeErr error
	ctx, clearLine := withCheckProgress(m.c)
	report := reportFindings(m.c, false)
	err := check(ctx, func(f fsck.Finding) {
		found++
		clearLine()
		writeErr = errors.Join(writeErr, report(f))
	})
	clearLine()
	if err = errors.Join(err, writeErr); err == nil && found > 0 {
		err = fmt.Errorf("%s in %s: %s", wording.Count(found, "finding"), m.name(), advice)
	}
	return err
}

// finish sets aside what the node had of a partition that is on its way, and puts the backup in its place.
func (m *move) finish(way cluster.Way, into string) error {
	id := storage.BackupID(way.Backup)
	aside, err := storage.Moved(m.path, id)
	if err == nil && aside == m.path {
		aside, err = storage.SetDirAside(m.path)
	}
	if err != nil {
		return err
	}
	ReachedInMove("set aside")
	draft := m.draftOf(into)
	if is, err := storage.IDOfBackup(draft); err == nil && is == id {
		if err := storage.Rename(draft, into); err != nil {
			return err
		}
	}
	ReachedInMove("in place")
	manifest, err := storage.ReadManifest(into)
	var is storage.BackupID
	if err == nil {
		is, err = storage.IDOfBackup(into)
	}
	if err == nil && is != id {
		err = fmt.Errorf("backup %s is another", is)
	}
	if err != nil {
		return fmt.Errorf("%s is on its way to node %d, and its backup, which is %s, is not in %s: name the directory that was named first; "+
			"or webrace-store cluster move %d --to N, on the node N that had it, takes it back: %w", m.name(), way.To, id, into, m.partition, err)
	}
	if aside != "" {
		note(m.c, "what node %d had of it is kept as %s, until you remove it", m.node, aside)
	}
	return m.say("%s, %s and %s in %s, is on its way to node %d: there, webrace-store cluster move %d --from DIR takes it in, where DIR has these files",
		m.name(), wording.Count(len(manifest.Files), "file"), terminal.Size(manifest.Bytes()), into, way.To, m.partition)
}

// takeBack makes a partition this node's again that it has given away, and that was not taken in.
func (m *move) takeBack(way cluster.Way) error {
	at, err := storage.Moved(m.path, storage.BackupID(way.Backup))
	if err != nil {
		return err
	}
	if at == "" {
		return fmt.Errorf("%s is on its way to node %d, and was not this node's before: give the command on the node that had it, or take it in with --from", m.name(), way.To)
	}
	if at != m.path {
		if _, err := storage.SetDirAside(m.path); err != nil { // of an earlier move
			return err
		}
		if err := storage.Rename(at, m.path); err != nil {
			return err
		}
	}
	ReachedInMove("put back")
	if err := m.Take(m.c.Context(), m.partition, way); err != nil {
		return &cli.Error{Status: cli.Environment, Err: err}
	}
	return m.say("%s is node %d's again, and its backup of no use", m.name(), m.node)
}
