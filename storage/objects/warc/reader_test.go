package warc

import (
	"bytes"
	"crypto/sha1"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// record writes one as programs do.
func record(id, block string) string {
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: resource\r\nWARC-Record-ID: <urn:x:%s>\r\nWARC-Target-URI: http://a.example/%s\r\n"+
		"WARC-Date: 2026-01-02T03:04:05Z\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", id, id, len(block), block)
}

func zip(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

func zst(text string) string {
	w, _ := zstd.NewWriter(nil)
	return string(w.EncodeAll([]byte(text), nil))
}

// read returns the ids of the records that are whole, with their blocks, and what was broken.
func read(t testing.TB, file string) (whole []string, broken []*BrokenError) {
	t.Helper()
	r, err := NewReader(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for range len(file) + 2 {
		rec, err := r.Next()
		if err == io.EOF {
			return whole, broken
		}
		var content []byte
		if err == nil {
			if content, err = io.ReadAll(rec.Block); err == nil {
				err = rec.Verify()
			} else if verified := rec.Verify(); verified == nil {
				t.Fatalf("a block that ends with %v is whole", err)
			} else {
				err = verified
			}
		}
		var b *BrokenError
		switch {
		case errors.As(err, &b):
			broken = append(broken, b)
		case err != nil:
			t.Fatal(err)
		default:
			whole = append(whole, strings.TrimPrefix(rec.ID(), "urn:x:")+"="+string(content))
		}
	}
	t.Fatalf("more is read than there is: %d records, %d broken", len(whole), len(broken))
	return nil, nil
}

func TestDamagedFilesGiveEveryRecordThatIsWhole(t *testing.T) {
	t.Parallel()
	a, b, c := record("a", "one"), record("b", strings.Repeat("two ", 30000)), record("c", "three")
	short := strings.Replace(b, "Content-Length: 120000", "Content-Length: 100", 1)
	long := strings.Replace(a, "Content-Length: 3", "Content-Length: 200", 1) // ends within b
	sum := sha1.Sum([]byte("one"))
	digest := base32.StdEncoding.EncodeToString(sum[:])
	digested := func(value string) string {
		return strings.Replace(a, "Content-Length", "WARC-Block-Digest: sha1:"+value+"\r\nContent-Length", 1)
	}
	flipped := []byte(zip(b))
	flipped[len(flipped)/2] ^= 0x55
	flippedFrame := []byte(zst(b))
	flippedFrame[len(flippedFrame)-2] ^= 0x55 // of the checksum
	wrongSum := []byte(zip(b))
	wrongSum[len(wrongSum)-6] ^= 1
	nested := record("n", "a WARC within one:\r\n"+a+c)

	for name, test := range map[string]struct {
		file   string
		whole  string // the ids
		broken int
	}{
		"plain":                          {a + b + c, "abc", 0},
		"gzip a record":                  {zip(a) + zip(b) + zip(c), "abc", 0},
		"gzip as a whole":                {zip(a + b + c), "abc", 0},
		"gzip in pieces":                 {zip(a+b[:50]) + zip(b[50:7000]) + zip(b[7000:]+c[:30]) + zip(c[30:]), "abc", 0},
		"empty":                          {"", "", 0},
		"zstd a record":                  {zst(a) + zst(b) + zst(c), "abc", 0},
		"zstd as a whole":                {zst(a + b + c), "abc", 0},
		"zstd in pieces":                 {zst(a+b[:50]) + zst(b[50:7000]) + zst(b[7000:]+c), "abc", 0},
		"zeros as padding":               {zip(a) + "\x00\x00\x00\x00" + zip(c), "ac", 0},
		"lines end with LF":              {strings.ReplaceAll(a, "\r\n", "\n") + c, "ac", 0},
		"no empty lines behind a record": {strings.TrimRight(a, "\r\n") + c, "ac", 0},
		"one line end at the end":        {a + strings.TrimSuffix(c, "\r\n"), "ac", 0},
		"a record holds records":         {a + nested + c, "anc", 0},
		"right digest":                   {digested(digest) + c, "ac", 0},
		"right digest in base 16":        {digested(fmt.Sprintf("%x", sum)) + c, "ac", 0},
		"a folded line":                  {strings.Replace(a, "WARC-Date", "X-Note: some\r\n\tmore\r\nWARC-Date", 1) + c, "ac", 0},

		"torn in the header":            {a + b[:40], "a", 1},
		"torn in the block":             {a + b[:4000], "a", 1},
		"torn gzip":                     {zip(a) + zip(b)[:90], "a", 1},
		"torn zstd":                     {zst(a) + zst(b)[:60], "a", 1},
		"garbage between, zstd":         {zst(a) + "what is this? nobody knows" + zst(c), "ac", 1},
		"a damaged frame":               {zst(a) + string(flippedFrame) + zst(c), "ac", 2},
		"length too long, zstd":         {zst(long) + zst(b) + zst(c), "bc", 1},
		"torn in the middle":            {a + b[:4000] + "\r\n" + c, "ac", 1},
		"torn header before another":    {a + b[:38] + "\r\n" + c, "ac", 1},
		"torn gzip in the middle":       {zip(a) + zip(b)[:90] + zip(c), "ac", 2},
		"torn gzip header":              {zip(a) + zip(b)[:5] + zip(c), "ac", 1},
		"length too short":              {a + short + c, "ac", 1},
		"length too short, gzip":        {zip(a) + zip(short) + zip(c), "ac", 1},
		"length too long":               {long + b + c, "bc", 1},
		"length too long, gzip":         {zip(long) + zip(b) + zip(c), "bc", 1},
		"length too long, whole gzip":   {zip(long + b + c), "bc", 1},
		"length beyond the file":        {strings.Replace(a, "Length: 3", "Length: 999999999999", 1) + b + c, "bc", 1},
		"length is no number":           {strings.Replace(a, "Length: 3", "Length: -3", 1) + b + c, "bc", 1},
		"no length":                     {strings.Replace(a, "Content-Length: 3\r\n", "", 1) + c, "c", 1},
		"no type":                       {strings.Replace(a, "WARC-Type: resource\r\n", "", 1) + c, "c", 1},
		"no colon":                      {strings.Replace(a, "WARC-Type:", "WARC-Type", 1) + c, "c", 1},
		"another version":               {strings.Replace(a, "WARC/1.0", "WARC/7.0", 1) + c, "c", 1},
		"endless header":                {strings.Replace(a, "WARC-Date", strings.Repeat("X-Y: z\r\n", 9000)+"WARC-Date", 1) + c, "c", 1},
		"endless line":                  {strings.Replace(a, "WARC-Date", strings.Repeat("X", 300000)+": WARC-Date", 1) + c, "c", 1},
		"garbage between":               {a + "what is this?\nnobody knows\n" + c, "ac", 1},
		"garbage between, gzip":         {zip(a) + "what is this?\x1f\x8b\x08 nobody knows" + zip(c), "ac", 1},
		"garbage at the end, gzip":      {zip(a) + zip(c) + "garbage", "ac", 1},
		"a member of something else":    {zip(a) + zip("something else") + zip(c), "ac", 1},
		"a damaged member":              {zip(a) + string(flipped) + zip(c), "ac", 2},
		"a wrong checksum":              {zip(a) + string(wrongSum) + zip(c), "ac", 1},
		"a damaged first member":        {"\x1f\x8b\x08 nonsense" + zip(c), "c", 1},
		"wrong digest":                  {digested(strings.Repeat("A", 32)) + c, "c", 1},
		"wrong digest of a nested WARC": {strings.Replace(nested, "Content-Length", "WARC-Block-Digest: md5:00\r\nContent-Length", 1) + b, "b", 1},
		"no WARC at all":                {"<html>hello\n</html>", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, broken := read(t, test.file)
			ids := ""
			for _, w := range whole {
				ids += w[:1]
				if known := []string{"a=one", "c=three"}; w[0] != 'n' && w[0] != 'b' && !slices.Contains(known, w) || w[0] == 'b' && len(w) != 120002 {
					t.Errorf("record %.80q", w)
				}
			}
			if ids != test.whole || len(broken) != test.broken {
				t.Errorf("whole are %q, want %q; broken: %v", ids, test.whole, broken)
			}
			for _, b := range broken {
				if b.Offset < 0 || b.Offset > int64(len(test.file)) {
					t.Errorf("offset %d in a file of %d bytes", b.Offset, len(test.file))
				}
			}
		})
	}
}

func TestARecordIsFoundAgainAtItsPlace(t *testing.T) {
	t.Parallel()
	a, b, c := record("a", "one"), record("b", "two"), record("c", "three")
	for name, file := range map[string]string{"plain": a + b + c, "gzip a record": zip(a) + zip(b) + zip(c), "gzip as a whole": zip(a + b + c)} {
		r, err := NewReader(strings.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		var places []Place
		var ids []string
		for rec, err := r.Next(); err != io.EOF; rec, err = r.Next() {
			if err != nil {
				t.Fatal(name, err)
			}
			places, ids = append(places, rec.Place), append(ids, rec.ID())
		}
		for i := len(places) - 1; i >= 0; i-- {
			if err := r.Seek(places[i]); err != nil {
				t.Fatal(name, err)
			}
			if rec, err := r.Next(); err != nil || rec.ID() != ids[i] || rec.Place != places[i] {
				t.Errorf("%s: at %v is %v, %v; want %s", name, places[i], rec, err, ids[i])
			}
		}
		if len(places) != 3 {
			t.Errorf("%s: places %v", name, places)
		}
	}
}

type brokenFile struct {
	io.Reader
	io.Seeker
}

func TestAFileThatCannotBeReadIsNoDamage(t *testing.T) {
	t.Parallel()
	for _, file := range []string{record("a", strings.Repeat("x", 1<<20)), zip(record("a", "x")) + zip(record("b", "y"))} {
		s := strings.NewReader(file)
		failing := io.MultiReader(io.LimitReader(s, int64(len(file)/2)), iotest.ErrReader(os.ErrPermission))
		r, err := NewReader(brokenFile{failing, s})
		for err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, os.ErrPermission) {
			t.Errorf("a failing file gives %v", err)
		}
	}
	if _, err := NewReader(strings.NewReader("\x5d\x2a\x4d\x18....")); !errors.Is(err, ErrZstandard) {
		t.Errorf("zstd with a dictionary gives %v", err)
	}
}

func TestDatesHaveSeveralPrecisions(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2026-01-02T03:04:05Z": "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.678901234Z": "2026-01-02T03:04:05Z",
		"2026-01-02T03:04Z": "2026-01-02T03:04:00Z", "2026-01-02": "2026-01-02T00:00:00Z", "2026-01": "2026-01-01T00:00:00Z", "2026": "2026-01-01T00:00:00Z",
	} {
		if got, err := ParseDate(in); err != nil || got.Format("2006-01-02T15:04:05Z") != want {
			t.Errorf("%s is %v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "yesterday", "20260102030405", "0000-01-01"} {
		if got, err := ParseDate(in); err == nil {
			t.Errorf("%q is %v", in, got)
		}
	}
}

// Whatever the file: reading ends, offsets lie in it, records are found again at their places, and a
// record behind damage that cannot be mistaken for one is found.
func FuzzReader(f *testing.F) {
	a := record("a", "one")
	for _, seed := range []string{a + a, zip(a) + zip(a), zip(a + a), zip(a)[:40], zst(a) + zst(a), zst(a)[:60] + zst(a), strings.Replace(a, "3", "99", 1) + a, "junk\n" + a} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > 1<<16 || bytes.HasPrefix(file, dictMagic) {
			return
		}
		r, err := NewReader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		var last *Record
		for range 4*len(file) + 2 {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			var broken *BrokenError
			if err != nil && !errors.As(err, &broken) {
				t.Fatal(err)
			}
			if err != nil {
				if broken.Offset < 0 || broken.Offset > int64(len(file)) {
					t.Fatalf("%v in %d bytes", broken, len(file))
				}
				continue
			}
			n, _ := io.Copy(io.Discard, rec.Block)
			if err := rec.Verify(); err == nil {
				if n != rec.Length {
					t.Fatalf("a whole record has %d bytes of %d", n, rec.Length)
				}
				last = rec
			}
		}
		if _, err := r.Next(); err != io.EOF {
			t.Fatal("reading does not end")
		}
		if last != nil {
			if err := r.Seek(last.Place); err != nil {
				t.Fatal(err)
			}
			if again, err := r.Next(); err != nil || again.ID() != last.ID() || again.Place != last.Place {
				t.Fatalf("at %v is %v, %v", last.Place, again, err)
			}
		}
		if !bytes.Contains(file, []byte("WARC")) && !bytes.Contains(file, []byte("\x1f\x8b")) && !bytes.Contains(file, ZstdMagic) {
			whole, _ := read(t, string(file)+"\r\n"+a)
			if !slices.Equal(whole, []string{"a=one"}) {
				t.Fatalf("behind garbage is %q", whole)
			}
		}
	})
}
