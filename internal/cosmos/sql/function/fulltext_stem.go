package function

import "github.com/kljensen/snowball/english"

// maxStemBytes is the length above which a word is not taken for English.
const maxStemBytes = 48

// stem removes the English ending of a lower-case word: the algorithm Porter2.
// https://snowballstem.org/algorithms/english/stemmer.html
// Words that are not all ASCII letters stay as they are.
func stem(word string) string {
	if len(word) <= 2 || len(word) > maxStemBytes || !isEnglish(word) {
		return word
	}
	return english.Stem(word, true)
}

func isEnglish(word string) bool {
	for i, b := range word {
		if (b < 'a' || b > 'z') && (b != '\'' || i == 0) {
			return false
		}
	}
	return true
}
