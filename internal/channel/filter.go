package channel

import "slices"

// Passes reports whether an entry is one of those that come on the channel: it has one of the labels of the filter,
// if there are any, at least its relevance and at least its urgency. A notice has no relevance, and passes any.
func (s Settings) Passes(e Entry) bool {
	f := s.Filter
	if len(f.Labels) > 0 && !slices.ContainsFunc(e.Labels, func(label string) bool { return slices.Contains(f.Labels, label) }) {
		return false
	}
	return (e.Notice || e.Relevance >= f.Relevance) && e.Urgency >= f.Urgency
}
