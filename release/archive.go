package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"os"
	"path"
	"path/filepath"
)

// file goes into an archive under its base name; a link into a .tar.gz as a link.
type file struct {
	path string
	mode os.FileMode
}

// tar packs files into a directory of a .tar.gz.
func (r release) tar(name, under string, files []file) (err error) {
	out, err := os.Create(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	compressed := gzip.NewWriter(out) // whose header has neither a name nor a time
	archive := tar.NewWriter(compressed)
	for _, f := range files {
		header := &tar.Header{
			Name: path.Join(under, filepath.Base(f.path)), Mode: int64(f.mode), ModTime: r.time, Format: tar.FormatUSTAR,
		}
		var content []byte
		if to, err := os.Readlink(f.path); err == nil {
			header.Typeflag, header.Linkname = tar.TypeSymlink, to
		} else if content, err = os.ReadFile(f.path); err != nil {
			return err
		}
		header.Size = int64(len(content))
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(content); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), compressed.Close())
}

// zip packs files into a directory of a .zip.
func (r release) zip(name, under string, files []file) (err error) {
	out, err := os.Create(filepath.Join(r.out, name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	archive := zip.NewWriter(out)
	for _, f := range files {
		content, err := os.ReadFile(f.path)
		if err != nil {
			return err
		}
		header := &zip.FileHeader{Name: path.Join(under, filepath.Base(f.path)), Method: zip.Deflate, Modified: r.time}
		header.SetMode(f.mode)
		w, err := archive.CreateHeader(header)
		if err != nil {
			return err
		}
		if _, err := w.Write(content); err != nil {
			return err
		}
	}
	return archive.Close()
}
