package archive

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/webrace/webrace/storage/objects/warc"
)

// source reads records of files at their places. It goes on from where it is, and does not seek, when what
// is asked for lies ahead: within a file that is compressed as a whole, that is the only way.
type source struct {
	files   []string
	file    *os.File
	index   int32 // of file
	records *warc.Reader
	last    warc.Place // of the record that was read last
	seeks   bool       // what is asked for is in no order
}

// use opens a file, unless it is open.
func (s *source) use(index int32) error {
	if s.file != nil && s.index == index {
		return nil
	}
	s.close()
	file, err := os.Open(s.files[index])
	if err != nil {
		return err
	}
	s.file, s.index, s.last = file, index, warc.Place{Member: -1}
	if s.records, err = warc.NewReader(file); err != nil {
		return fmt.Errorf("%s: %w", s.files[index], err)
	}
	return nil
}

func (s *source) close() {
	if s.file != nil {
		s.file.Close()
		s.file = nil
	}
}

// record returns a capture's record, which was read before and was whole then.
func (s *source) record(c capture) (*warc.Record, error) {
	if err := s.use(c.file); err != nil {
		return nil, err
	}
	if s.seeks || !before(s.last, c.place) {
		if err := s.records.Seek(c.place); err != nil {
			return nil, fmt.Errorf("%s: %w", s.files[c.file], err)
		}
	}
	for {
		rec, err := s.records.Next()
		var broken *warc.BrokenError
		switch {
		case errors.As(err, &broken): // was reported
			continue
		case err == io.EOF || err == nil && before(c.place, rec.Place):
			return nil, fmt.Errorf("%s changed while it was read", s.files[c.file])
		case err != nil:
			return nil, fmt.Errorf("%s: %w", s.files[c.file], err)
		}
		if s.last = rec.Place; rec.Place == c.place {
			return rec, nil
		}
	}
}

func before(a, b warc.Place) bool {
	return a.Member < b.Member || a.Member == b.Member && a.Skip < b.Skip
}
