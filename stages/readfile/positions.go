package readfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// positions knows files, and how far each has been read and dealt with; in a file of its own if it has a path.
type positions struct {
	path string
	dry  bool // the file stays as it is
	log  *slog.Logger

	mu      sync.Mutex
	files   []*known
	earlier map[string]earlierPosition // of files that have not been looked at since, by their paths
	open    int                        // entries that have not ended
	reading bool                       // more may come soon
	changed bool                       // since it was saved
	strange bool                       // of what files are known by
	savedAt time.Time
}

// known is a file that has been read from. The fields of the file of positions are what has been dealt with.
type known struct {
	Path     string    `json:"path"`
	Device   uint64    `json:"device,omitzero"`
	Inode    uint64    `json:"inode,omitzero"`
	Gzip     bool      `json:"gzip,omitzero"`
	Replaced bool      `json:"replaced,omitzero"` // other content has taken its place
	ID       string    `json:"id"`                // whatever the file is called
	Seen     time.Time `json:"seen"`
	Begins   beginning `json:"begins,omitzero"` // as it did before it was read
	mark
	Whole state `json:"whole,omitzero"` // as it was when it had been read to its end; zero if that is not known

	read   mark  // how far it has been read
	ended  state // Whole of that
	header []string
	number uint64 // of the last entry
	open   []openEntry
	taken  bool // it is one of the files that are being read
	held   *held
}

// state is how a file is told to have changed.
type state struct {
	Size     int64     `json:"size"`
	Modified time.Time `json:"modified"`
}

// beginning is what a file is recognized by until more of it has been dealt with.
type beginning struct {
	Offset int64  `json:"offset"`
	Sum    uint32 `json:"sum"`
}

// fingerprint is what a file is recognized by.
func (k *known) fingerprint() mark {
	if k.read.Offset < k.Begins.Offset {
		return mark{Offset: k.Begins.Offset, Sum: k.Begins.Sum}
	}
	return k.read
}

// openEntry is one that has not been dealt with.
type openEntry struct {
	number uint64
	at     mark
}

// earlierPosition is one of the format without versions.
type earlierPosition struct {
	Beginning string `json:"beginning"` // a hash of the first line, of 256 bytes at most
	Records   uint64 `json:"records"`
}

// saved is the file of positions.
type saved struct {
	Version int                        `json:"version"`
	Files   []*known                   `json:"files"`
	Earlier map[string]earlierPosition `json:"earlier,omitzero"`
}

const (
	version   = 2
	saveEvery = time.Second
	forgotten = 90 * 24 * time.Hour // after which a file that was not seen is
)

// openPositions reads the file. What is damaged is put aside, so that the next run is not stopped by it, too.
func openPositions(path string, dry bool, log *slog.Logger) (*positions, error) {
	p := &positions{path: path, dry: dry, log: log, savedAt: time.Now()}
	if path == "" {
		return p, nil
	}
	if !dry {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	switch err := p.decode(text); {
	case errors.Is(err, errLater):
		return nil, err
	case err != nil:
		return p, p.putAside(err)
	}
	return p, nil
}

var errLater = errors.New("they were written by a later release")

func (p *positions) decode(text []byte) error {
	var head struct {
		Version int `json:"version"`
	}
	_ = json.Unmarshal(text, &head) // in the earlier format, paths stand where it would
	if head.Version == 0 {
		err := json.Unmarshal(text, &p.earlier)
		for path, at := range p.earlier {
			if at.Beginning == "" {
				return fmt.Errorf("the entry of %s has no beginning", path)
			}
		}
		return err
	}
	if head.Version > version {
		return fmt.Errorf("%w: version %d, and this one knows %d", errLater, head.Version, version)
	}
	var s saved
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	p.earlier = s.Earlier
	for _, k := range s.Files {
		if k == nil {
			return errors.New("a file is null")
		}
		if time.Since(k.Seen) < forgotten {
			k.read, k.ended = k.mark, k.Whole
			p.files = append(p.files, k)
		}
	}
	return nil
}

// putAside makes room for another file of positions, and logs what follows from it.
func (p *positions) putAside(damage error) error {
	p.files, p.earlier = nil, nil
	aside := p.path + ".damaged"
	p.log.Error("the file of positions cannot be read: all files are read from their beginning, and what had been read before comes again",
		"positions", p.path, "error", damage, "kept_as", aside)
	if p.dry {
		return nil
	}
	return os.Rename(p.path, aside)
}

// begin notes an entry that is about to be emitted, and returns its number.
func (p *positions) begin(k *known, at, end mark) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	k.number++
	k.open = append(k.open, openEntry{k.number, at})
	k.read = end
	p.open++
	return k.number
}

// end notes that an entry has ended. One that was not dealt with stays where it is: it is read again in the next run.
func (p *positions) end(k *known, number uint64, ok bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open--
	i, found := slices.BinarySearchFunc(k.open, number, func(e openEntry, n uint64) int { return int(e.number) - int(n) })
	if found && ok {
		k.open = slices.Delete(k.open, i, i+1)
		p.changed = true
	}
	return p.saveIfDue()
}

// ended notes how far a file has been read, and what it was like then.
func (p *positions) ended(k *known, end *ending, whole state) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.earlier, k.Path)
	if end.at.Offset < k.read.Offset { // it could not be opened
		end.at = k.read
	}
	p.changed = p.changed || k.read != end.at || k.ended != whole
	k.read, k.ended = end.at, whole
	k.Gzip = end.in != nil && end.in.zipped || end.in == nil && k.Gzip
}

// rest is told whether more is about to be read. Where it is not, what has been dealt with is saved at once.
func (p *positions) rest(resting bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reading = !resting
	return p.saveIfDue()
}

// saveNames saves what files are known by, if that is new: before something of them is emitted, so that after a crash
// it has the same keys.
func (p *positions) saveNames() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.saveIfDue()
}

func (p *positions) saveIfDue() error {
	due := p.strange || p.open == 0 && !p.reading || time.Since(p.savedAt) >= saveEvery
	if !due || !p.changed || p.path == "" || p.dry {
		return nil
	}
	strange := p.strange
	p.savedAt, p.changed, p.strange = time.Now(), false, false
	for _, k := range p.files {
		k.mark, k.Whole = k.read, k.ended
		if len(k.open) > 0 {
			k.mark, k.Whole = k.open[0].at, state{}
		}
	}
	text, err := json.MarshalIndent(saved{version, p.files, p.earlier}, "", "\t")
	if err == nil {
		err = replace(p.path, append(text, '\n'))
	}
	if err != nil {
		p.changed, p.strange = true, strange
		return fmt.Errorf("save positions: %w", err)
	}
	return nil
}

// replace writes a file that is durable when it returns; one of the name is there at any time, whole.
func replace(path string, text []byte) error {
	part := path + ".part"
	file, err := os.OpenFile(part, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := os.Rename(part, path); err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync() // some systems have no such thing
		dir.Close()
	}
	return nil
}

// forget drops what an earlier release has noted of a file that holds something else.
func (p *positions) forget(path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.earlier, path)
}

// earlierOf returns how many entries of a file an earlier release has dealt with.
func (p *positions) earlierOf(path string, c *content) uint64 {
	p.mu.Lock()
	at, ok := p.earlier[path]
	p.mu.Unlock()
	if !ok {
		return 0
	}
	first, _ := c.Peek(1)
	if len(first) > 0 {
		first, _ = c.Peek(min(c.Buffered(), declarationBytes))
	}
	if end := bytes.IndexByte(first, '\n'); end >= 0 {
		first = first[:end]
	}
	if sum := sha256.Sum256(first); hex.EncodeToString(sum[:8]) != at.Beginning {
		return 0
	}
	return at.Records
}
