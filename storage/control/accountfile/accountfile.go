// Package accountfile writes all that is stored of the owner of an account to a zip file, for the owner to take along.
// Neither the password nor secrets are in it, nor what stands for them.
package accountfile

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/webrace/webrace/storage/control"
)

// Written is how much a file holds.
type Written struct{ URDs, ACIs int }

// Write writes the file of an account, as what it holds is read. Each part is as its statement began to read it, which
// stays open until the part is written: a caller that writes to a person's connection sets a deadline for it. After an
// error, what was written is no complete zip file, and programs refuse it.
func Write(ctx context.Context, w io.Writer, owned control.Owned, account control.Account) (Written, error) {
	f := &file{ctx: ctx, owned: owned, account: account}
	archive := zip.NewWriter(w)
	now := time.Now()
	for _, part := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"account.json", f.writeAccount}, {"profile.xml", f.writeProfile}, {"urds.xml", f.writeURDs}, {"annotations.xml", f.writeACIs}, {"annotations.jsonl", f.writeLines},
		{"withheld.xml", f.writeWithheld}, {"marks.jsonl", f.writeMarks}, {"channels.json", f.writeChannels}, {"sent.jsonl", f.writeSent},
	} {
		out, err := archive.CreateHeader(&zip.FileHeader{Name: part.name, Method: zip.Deflate, Modified: now})
		if err == nil {
			err = part.write(out)
		}
		if err != nil {
			return f.written, fmt.Errorf("export %s: %w", part.name, err)
		}
	}
	return f.written, archive.Close()
}

// file is what is of one owner, while it is written.
type file struct {
	ctx     context.Context
	owned   control.Owned
	account control.Account
	written Written
}

func (f *file) writeURDs(w io.Writer) (err error) {
	f.written.URDs, err = control.WriteURDs(w, f.owned.URDs(f.ctx))
	return err
}

func (f *file) writeACIs(w io.Writer) (err error) {
	f.written.ACIs, err = control.WriteACIs(w, f.owned.ACIs(f.ctx))
	return err
}

func (f *file) writeLines(w io.Writer) error { return control.WriteACILines(w, f.owned.ACIs(f.ctx)) }

// writeWithheld writes the annotations that the owner's budget kept from them.
func (f *file) writeWithheld(w io.Writer) error {
	_, err := control.WriteACIs(w, f.owned.Withheld(f.ctx))
	return err
}
