package frontier

// cache is a bounded map that forgets what was not asked for lately: it keeps two generations, and lets
// the older one go when the younger is full. It needs a lock of its owner.
type cache[K comparable, V any] struct {
	size       int // of a generation
	young, old map[K]V
}

func newCache[K comparable, V any](size int) *cache[K, V] {
	return &cache[K, V]{size: size, young: map[K]V{}}
}

func (c *cache[K, V]) get(key K) (V, bool) {
	v, ok := c.young[key]
	if !ok {
		v, ok = c.old[key]
	}
	return v, ok
}

func (c *cache[K, V]) put(key K, value V) {
	if len(c.young) >= c.size {
		c.old, c.young = c.young, make(map[K]V, c.size)
	}
	c.young[key] = value
}
