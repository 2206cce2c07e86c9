package objects

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// What is found are records that lie where they are said to, one behind the other, whatever is between them.
func FuzzScanner(f *testing.F) {
	for _, compression := range compressions {
		pool, err := compressors(compression, 1)
		if err != nil {
			f.Fatal(err)
		}
		var out bytes.Buffer
		c := pool.Get().(*compressor)
		c.append(&out, infoRecord("seg-00000001.warc.gz", noon))
		f.Add(out.Bytes())
		f.Add(append(append(compression.magic(), "garbage"...), out.Bytes()...))
		f.Add(append(bytes.Clone(out.Bytes()[:40]), out.Bytes()...))
	}
	f.Fuzz(func(t *testing.T, segment []byte) {
		end := int64(0)
		for s := (&scanner{segment: 1, file: bytes.NewReader(segment), end: int64(len(segment))}); ; {
			r, err := s.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.at.offset < end || r.at.length <= 0 || r.at.offset+r.at.length > int64(len(segment)) {
				t.Fatalf("record at %+v behind %d of %d", r.at, end, len(segment))
			}
			end = r.at.offset + r.at.length
			raw, err := inflate(segment[r.at.offset:end], 100)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := parseRecord(raw); err != nil || !bytes.Equal(again.block, r.block) {
				t.Fatalf("%v", err)
			}
		}
	})
}

// Each record around damage is found, whatever byte of another is damaged.
func TestTheScannerFindsEachWholeRecordAroundDamage(t *testing.T) {
	eachCompression(t, theScannerFindsEachWholeRecordAroundDamage)
}

func theScannerFindsEachWholeRecordAroundDamage(t *testing.T, compression Compression) {
	pool, err := compressors(compression, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := pool.Get().(*compressor)
	var out bytes.Buffer
	var ends []int
	for range 3 {
		c.append(&out, infoRecord("x", noon))
		ends = append(ends, out.Len())
	}
	for i := ends[0]; i < ends[1]; i++ {
		damaged := bytes.Clone(out.Bytes())
		damaged[i] ^= 0xff
		var found []int64
		s := &scanner{file: bytes.NewReader(damaged), end: int64(len(damaged))}
		for r, err := s.next(); err == nil; r, err = s.next() {
			found = append(found, r.at.offset)
		}
		headerOnly := len(found) == 3 // bytes of a gzip header that say nothing
		if len(found) < 2 || found[0] != 0 || found[len(found)-1] != int64(ends[1]) || headerOnly && i-ends[0] >= 10 {
			t.Errorf("byte %d: found %v, want records at 0 and %d", i, found, ends[1])
		}
	}
}
