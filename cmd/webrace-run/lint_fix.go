package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/webrace/webrace/cmd/internal/cli"
	"github.com/webrace/webrace/pipeline/finding"
)

func hasEdit(f finding.Finding) bool { return f.Edit != finding.Edit{} }

// fixDeprecated makes the edits of findings in their files, and prints which. What is beside them in a file, comments
// and layout too, stays byte by byte.
func fixDeprecated(w io.Writer, found finding.List) error {
	done := make(map[string]bool)
	for _, f := range found {
		if !hasEdit(f) || done[f.Pos.File] {
			continue
		}
		done[f.Pos.File] = true
		if err := fixFile(w, f.Pos.File, found); err != nil {
			return &cli.Error{Status: cli.Environment, Err: fmt.Errorf("fix %s: %w", f.Pos.File, err)}
		}
	}
	return nil
}

func fixFile(w io.Writer, file string, found finding.List) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	edited, made := found.Apply(file, content)
	if len(made) == 0 {
		return errors.New("it is another file by now: run it again")
	}
	if err := replaceFile(file, edited); err != nil {
		return err
	}
	for _, f := range made {
		fmt.Fprintf(w, "%s: %s is written %s now\n", f.Pos, f.Edit.Old, f.Edit.New)
	}
	return nil
}

// replaceFile puts other content in a file, which keeps its mode: who reads it sees either all of the old or all of
// the new.
func replaceFile(path string, content []byte) error {
	path, err := filepath.EvalSymlinks(path) // a link stays one
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return cli.WriteWhole(path, info.Mode(), func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}
