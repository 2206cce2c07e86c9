package readfile

import (
	"bytes"
	"io"
	"os"
)

// steady reads a regular file piece by piece. Each piece is read together with the end of the one before it: if that is
// not there any more, the file was truncated meanwhile and written anew, and what stands there now does not go on with
// what was read. Else the beginning of one line and the end of another would be a line that nobody has written.
type steady struct {
	file *os.File
	at   int64
	tail []byte // what stood before that
	room []byte
}

// steadily returns a reader of a file from its beginning, which need not be a regular one.
func steadily(file *os.File) io.Reader {
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return file
	}
	return &steady{file: file}
}

// Read gives errReplaced if what was read before is not there any more. It reads once, since a writer may come between
// two.
func (s *steady) Read(p []byte) (int, error) {
	if need := len(s.tail) + len(p); len(s.room) < need {
		s.room = make([]byte, max(need, tailBytes+bufferBytes))
	}
	room := s.room[:len(s.tail)+len(p)]
	if _, err := s.file.Seek(s.at-int64(len(s.tail)), io.SeekStart); err != nil {
		return 0, err
	}
	got, err := s.file.Read(room)
	if got == 0 && err != nil && err != io.EOF {
		return 0, err
	}
	room = room[:max(got, 0)]
	if !bytes.HasPrefix(room, s.tail) {
		return 0, errReplaced
	}
	n := copy(p, room[len(s.tail):])
	s.at += int64(n)
	s.tail = append(s.tail[:0], room[max(0, len(room)-tailBytes):]...)
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}
