package cluster

import (
	"bytes"
	"slices"
	"testing"

	"github.com/webrace/webrace/storage/frontier"
)

func TestEnvelopesOfARowAreThoseThatWereSent(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("x"), mostBundled)
	for _, sent := range [][][]byte{
		{[]byte("a")}, {{}}, {{0}}, {{0, 5}}, {[]byte("a"), {}, {0}, large, []byte("b")}, {large, large, large},
	} {
		var p parcel
		for i, data := range sent {
			p.envelopes = append(p.envelopes, frontier.Envelope{To: 3, Data: data, Passes: []frontier.Pass{{Crawl: "c", Number: uint32(9 - i)}}})
		}
		var got [][]byte
		for _, b := range bundled([]parcel{p}) {
			got = append(got, envelopesIn(b.data())...)
			if b.to != 3 || len(b.passes) != 1 {
				t.Errorf("to %d, of %v", b.to, b.passes)
			}
		}
		if !slices.EqualFunc(got, sent, bytes.Equal) {
			t.Errorf("%d envelopes become %d", len(sent), len(got))
		}
	}
}

func TestARowIsForOneQueueAndNamesTheLatestPassOfEachCrawl(t *testing.T) {
	t.Parallel()
	c, d := frontier.Pass{Crawl: "c", Number: 2}, frontier.Pass{Crawl: "d", Number: 1}
	all := bundled([]parcel{
		{pipeline: "p", envelopes: []frontier.Envelope{{To: 1, Passes: []frontier.Pass{c}, Data: []byte("1")}, {To: 2, Data: []byte("2")}}},
		{pipeline: "q", envelopes: []frontier.Envelope{{To: 1, Data: []byte("3")}}},
		{pipeline: "p", envelopes: []frontier.Envelope{{To: 1, Passes: []frontier.Pass{d, {Crawl: "c", Number: 1}}, Data: []byte("4")}}},
	})
	if len(all) != 3 || len(all[0].envelopes) != 2 || !slices.Equal(all[0].passes, []frontier.Pass{c, d}) || all[2].pipeline != "q" {
		t.Errorf("%+v", all)
	}
}

// What is damaged reaches the queue, which says so, and which command removes it.
func TestARowThatCannotBeDividedIsOneEnvelope(t *testing.T) {
	t.Parallel()
	for _, data := range [][]byte{{}, {several, 2, 'a'}, {several, 1, 'a', 0x80}, append([]byte{several}, bytes.Repeat([]byte{0xff}, 12)...)} {
		if got := envelopesIn(data); len(got) != 1 || !bytes.Equal(got[0], data) {
			t.Errorf("%q becomes %q", data, got)
		}
	}
}
