// Package secretfile reads secrets that stand in files of their own, as systems that run services put them there:
// /run/secrets/NAME of containers, the credentials of systemd.
//
// It guarantees: no error holds anything of what is in a file, and no more than [Max] bytes of one are read.
package secretfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"
)

// Max is how many bytes a secret may have.
const Max = 64 << 10

// Read returns what is in a file, without the line break that editors and echo put at its end. The error names the
// file, and tells what to do.
func Read(path string) (string, error) {
	info, err := os.Stat(path) // before it is opened: to open a pipe would wait for who writes into it
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no file %s: put the secret there, or name the file that holds it", path)
	case err != nil:
		return "", unreadable(path, err)
	case info.IsDir():
		return "", fmt.Errorf("%s is a directory: name the file in it that holds the secret", path)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no regular file: put the secret into one", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", unreadable(path, err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, Max+1))
	if err != nil {
		return "", unreadable(path, err)
	}
	secret, err := Parse(content)
	if err != nil {
		return "", fmt.Errorf("%s %w", path, err)
	}
	return secret, nil
}

func unreadable(path string, err error) error {
	if inner := (*fs.PathError)(nil); errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("%s cannot be read by this user: %w", path, err)
}

// Parse returns the secret that a file or the output of a program holds: all of it but one line break at its end. The
// error is a phrase about it.
func Parse(content []byte) (string, error) {
	switch {
	case len(content) > Max:
		return "", fmt.Errorf("holds more than %d KB: no secret is as long", Max>>10)
	case !utf8.Valid(content):
		return "", errors.New("holds what is no text in UTF-8: a secret is text, as in base64")
	}
	secret, found := strings.CutSuffix(string(content), "\r\n")
	if !found {
		secret = strings.TrimSuffix(secret, "\n")
	}
	if secret == "" {
		return "", errors.New("holds nothing: write the secret into it")
	}
	return secret, nil
}
