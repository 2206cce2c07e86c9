package main

import (
	"math/rand/v2"
	"strconv"
)

// linkSource makes the links of one document after the other, as a crawl finds them: a share of them was
// found before. What it makes is the same for everybody who asks for the same.
type linkSource struct {
	rng     *rand.Rand
	next    uint64 // URLs made so far
	hosts   uint64
	repeats float64 // the share of links that were found before
	recent  uint64  // they were among so many last ones; 0: any
	text    []byte
}

// setSize is how many links a document has.
const setSize = 88

func newLinkSource(hosts int) *linkSource {
	return &linkSource{rng: rand.New(rand.NewPCG(1, 2)), hosts: uint64(hosts), repeats: 0.5}
}

// set returns the links of one document, each once, and how many of them are new.
func (s *linkSource) set() (urls []string, fresh int) {
	urls = make([]string, 0, setSize)
	var used [setSize]uint64
	for len(urls) < setSize {
		id := s.next
		if s.next > setSize && s.rng.Float64() < s.repeats {
			id = s.earlier()
		}
		if contains(used[:len(urls)], id) {
			continue
		}
		if id == s.next {
			s.next++
			fresh++
		}
		used[len(urls)] = id
		urls = append(urls, s.url(id))
	}
	return urls, fresh
}

func contains(ids []uint64, id uint64) bool {
	for _, other := range ids {
		if other == id {
			return true
		}
	}
	return false
}

func (s *linkSource) earlier() uint64 {
	if s.recent == 0 || s.recent > s.next {
		return s.rng.Uint64N(s.next)
	}
	return s.next - 1 - s.rng.Uint64N(s.recent)
}

// url spreads the URLs over the hosts so that some are large and many small. Making one takes a tenth of a
// microsecond, which everybody pays.
func (s *linkSource) url(id uint64) string {
	x := id * 0x9E3779B97F4A7C15
	x ^= x >> 29
	x *= 0xBF58476D1CE4E5B9
	share := float64(x>>11) / (1 << 53)
	s.text = append(s.text[:0], "https://h"...)
	s.text = strconv.AppendUint(s.text, uint64(float64(s.hosts)*share*share*share), 10)
	s.text = append(s.text, ".example.org/section-"...)
	s.text = strconv.AppendUint(s.text, x%97, 10)
	s.text = append(s.text, "/article-"...)
	s.text = strconv.AppendUint(s.text, id, 10)
	return string(append(s.text, "-of-the-day.html"...))
}
