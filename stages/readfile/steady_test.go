package readfile

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that is written anew while it is being read gives nothing that goes on with what was in it before.
func TestWhatIsReadWasWrittenInOnePiece(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 7))
		path := filepath.Join(t.TempDir(), "log")
		next := 0
		lines := func(n int) (text string) { // of which none is like another
			for range n {
				next++
				text += strings.Repeat(string(rune(0x4e00+next)), 1+r.IntN(12)) + "\n"
			}
			return text
		}
		text := lines(1)
		write(t, path, text)
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		in, read := steadily(file), ""
		for range 60 {
			switch r.IntN(8) {
			case 0, 1:
				text += lines(1)
				write(t, path, text)
			case 2:
				text = lines(1 + r.IntN(5))
				write(t, path, text)
			default:
				p := make([]byte, 1+r.IntN(30))
				n, err := in.Read(p)
				read += string(p[:n])
				isPrefix := strings.HasPrefix(text, read)
				switch {
				case errors.Is(err, errReplaced) && (isPrefix || n > 0):
					t.Fatalf("seed %d: %q was taken for another file", seed, text)
				case errors.Is(err, errReplaced):
					in, read = &steady{file: file}, ""
				case !isPrefix:
					t.Fatalf("seed %d: read %q of %q", seed, read, text)
				case n == 0 && err != io.EOF || n > 0 && err != nil:
					t.Fatalf("seed %d: %d bytes, %v", seed, n, err)
				}
			}
		}
	}
}
