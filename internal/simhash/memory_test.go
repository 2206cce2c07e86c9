package simhash

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// slowMemory looks at every page.
type slowMemory struct {
	size  int
	pages []remembered // the latest last; one whose URL is empty was forgotten
}

func (m *slowMemory) find(p Page) (near map[string]bool, same int) {
	near = map[string]bool{}
	for _, r := range m.pages {
		if r.URL == "" || r.URL == p.URL {
			continue
		}
		if r.stands && bits.OnesCount64(r.Fingerprint^p.Fingerprint) <= 3 {
			near[r.URL] = true
		}
		if r.Fingerprint == p.Fingerprint && r.Title == p.Title {
			same++
		}
	}
	return near, same
}

func (m *slowMemory) remember(p Page, stands bool) {
	for i, r := range m.pages {
		if r.URL == p.URL && r.Fingerprint == p.Fingerprint {
			m.pages[i] = remembered{Page: p, stands: stands}
			return
		}
	}
	m.forget(p.URL)
	m.pages = append(m.pages, remembered{Page: p, stands: stands})
	m.pages = m.pages[max(0, len(m.pages)-m.size):]
}

func (m *slowMemory) forget(url string) {
	for i, r := range m.pages {
		if r.URL == url {
			m.pages[i] = remembered{}
		}
	}
}

func (m *slowMemory) len() (n int) {
	for _, r := range m.pages {
		if r.URL != "" {
			n++
		}
	}
	return n
}

// mustAgree does the same with both memories.
func mustAgree(t *testing.T, random *rand.Rand, size, steps int) {
	t.Helper()
	fast, slow := NewMemory(size), &slowMemory{size: size}
	var centres [12]uint64
	for i := range centres {
		centres[i] = random.Uint64()
	}
	for step := range steps {
		p := Page{URL: fmt.Sprint(random.IntN(2 * size)), Title: random.Uint64N(2), Fingerprint: centres[random.IntN(len(centres))]}
		for range random.IntN(6) { // up to five bits away
			p.Fingerprint ^= 1 << random.IntN(64)
		}
		if random.IntN(10) == 0 {
			fast.Forget(p.URL)
			slow.forget(p.URL)
			continue
		}
		got := fast.Find(p, 5)
		near, same := slow.find(p)
		if (got.Near != "") != (len(near) > 0) || got.Near != "" && !near[got.Near] || got.Same != min(same, 5) {
			t.Fatalf("size %d, step %d: found %+v, want one of %v and %d the same", size, step, got, near, same)
		}
		stands := random.IntN(4) > 0
		fast.Remember(p, stands)
		slow.remember(p, stands)
		if fast.Len() != slow.len() || fast.Len() > size {
			t.Fatalf("size %d, step %d: %d URLs, want %d", size, step, fast.Len(), slow.len())
		}
	}
}

func TestAMemoryFindsWhatASlowScanFinds(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1, 2, 15, 16, 17, 100, 500} {
		mustAgree(t, random, size, 3000)
	}
}

func FuzzMemory(f *testing.F) {
	f.Add(uint64(1), uint8(7))
	f.Fuzz(func(t *testing.T, seed uint64, size uint8) {
		mustAgree(t, rand.New(rand.NewPCG(seed, 1)), int(size)+1, 400)
	})
}

func TestNumbersThatAreUsedUpBeginAnew(t *testing.T) {
	t.Parallel()
	m := NewMemory(3)
	m.next = 1<<32 - 3
	m.ring = make([]remembered, 3)
	for band := range bands {
		m.heads[band] = make([]uint32, 16)
	}
	for i := range 10 {
		m.Remember(Page{URL: fmt.Sprint(i), Fingerprint: 7}, true)
		if f := m.Find(Page{URL: "x", Fingerprint: 7}, 9); f.Near == "" || m.Len() > 3 || f.Same != m.Len() {
			t.Fatalf("after %d: %+v of %d", i, f, m.Len())
		}
	}
}

func TestHostsAreForgottenFromTheOneAskedAboutLongestAgo(t *testing.T) {
	t.Parallel()
	always := func(Found) bool { return true }
	for what, h := range map[string]*Hosts{"hosts": NewHosts(10, 100, 2), "pages": NewHosts(10, 3, 100)} {
		h.Meet("a", Page{"u", 1, 5}, 1, always)
		h.Meet("b", Page{"u", 1, 5}, 1, always)
		h.Meet("a", Page{"v", 1, 9 << 40}, 1, always)
		h.Meet("c", Page{"u", 1, 5}, 1, always)
		h.Leave("a", "v")
		if _, known := h.known.Peek("b"); known || h.known.Len() != 2 || h.stored != 2 {
			t.Errorf("%s: %d hosts, %d pages", what, h.known.Len(), h.stored)
		}
		if f := h.Meet("a", Page{"w", 1, 4}, 1, always); f.Near != "u" || f.Same != 0 {
			t.Errorf("%s: found %+v", what, f)
		}
	}
}

func TestEnoughOfTheSameAreRemembered(t *testing.T) {
	t.Parallel()
	h := NewHosts(100, 1000, 10)
	for i := range 50 {
		f := h.Meet("a", Page{fmt.Sprint(i), 1, 5}, 10, func(f Found) bool { return f.Near == "" })
		if (f.Near == "") != (i == 0) || f.Same != min(i, 11) {
			t.Fatalf("page %d: %+v", i, f)
		}
	}
	if h.stored != 11 {
		t.Errorf("%d are remembered", h.stored)
	}
}
