"""The questions at the end of each notebook, in both languages, each wrong choice with its why.

The first choices are the right ones; they are shown in another order.
"""

from dataclasses import dataclass

from ..labels import LANGUAGES, get_language

Words = tuple[str, str]  # 繁體中文, English


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes
    ----------
    notebook : str
        Its number, "01".
    asked : (str, str)
    choices : tuple of ((str, str), (str, str))
        What may be chosen, and what is said then.
    right : int
        How many of the choices, from the first on, are right.
    """

    notebook: str
    asked: Words
    choices: tuple[tuple[Words, Words], ...]
    right: int = 1

    def said(self) -> tuple[str, list[str], list[str]]:
        """Return question, choices and explanations in the current language."""
        number = LANGUAGES.index(get_language())
        choices = [choice[number] for choice, _ in self.choices]
        return self.asked[number], choices, [why[number] for _, why in self.choices]


QUESTIONS: dict[str, Question] = {
    "01_roles": Question(
        "01",
        (
            "一個詞元的輸出，是哪些向量的加權總和？",
            "The output of a token is a weighted sum of which vectors?",
        ),
        (
            (
                ("各個位置的值（V）", "the values (V) of the positions"),
                (
                    "查詢與鍵只決定權重，真正被加起來的是值。",
                    "Query and keys only decide the weights; what is added up are the values.",
                ),
            ),
            (
                ("各個位置的鍵（K）", "the keys (K) of the positions"),
                (
                    "鍵只拿來和查詢比對，算出權重之後就沒有它的事了。",
                    "Keys are only compared with the query; once there are weights, they are done.",
                ),
            ),
            (
                ("各個位置的查詢（Q）", "the queries (Q) of the positions"),
                (
                    "一列只用到自己的那一個查詢，別的查詢不會加進來。",
                    "A row uses its own query alone; other queries do not enter it.",
                ),
            ),
        ),
    ),
    "01_shapes": Question(
        "01",
        (
            "d_model 固定，頭數變成兩倍時，每頭維度 d_k 怎麼變？",
            "With d_model fixed, what happens to d_k when there are twice as many heads?",
        ),
        (
            (
                ("變成一半", "it halves"),
                (
                    "d_model 由各個頭平分，頭多了，每個頭就窄了。",
                    "The heads share d_model evenly: the more heads, the narrower each one.",
                ),
            ),
            (
                ("變成兩倍", "it doubles"),
                (
                    "這樣全部的頭合起來會是 d_model 的四倍寬；頭是平分 d_model 的。",
                    "All heads together would then be four times d_model wide; they share d_model.",
                ),
            ),
            (
                ("不變", "it stays as it is"),
                (
                    "這樣全部的頭合起來會超過 d_model；頭是平分 d_model 的。",
                    "All heads together would then be wider than d_model; they share d_model.",
                ),
            ),
        ),
    ),
    "02_why_scale": Question(
        "02",
        (
            "為什麼分數要除以 √d_k，而不是 d_k？",
            "Why are scores divided by √d_k and not by d_k?",
        ),
        (
            (
                (
                    "因為 d_k 項加起來，標準差大約是 √d_k 倍",
                    "because a sum of d_k terms has about √d_k times the standard deviation",
                ),
                (
                    "獨立的項相加，變異數相加；標準差是變異數的平方根。",
                    "Variances of independent terms add up; the standard deviation is their root.",
                ),
            ),
            (
                (
                    "因為 d_k 項加起來，標準差大約是 d_k 倍",
                    "because a sum of d_k terms has about d_k times the standard deviation",
                ),
                (
                    "變成 d_k 倍的是變異數；正負會互相抵消，標準差長得慢。",
                    "That is the variance; signs partly cancel, so the deviation grows less.",
                ),
            ),
            (
                (
                    "因為這樣每一列的總和才會是 1",
                    "because otherwise the rows would not sum to 1",
                ),
                (
                    "總和為 1 是 softmax 的事，縮放與否都一樣。",
                    "That is softmax's doing, scaled or not.",
                ),
            ),
        ),
    ),
    "02_large_scores": Question(
        "02",
        (
            "分數沒有縮放、變得很大時，會發生什麼事？",
            "What happens when scores are left unscaled and grow large?",
        ),
        (
            (
                (
                    "softmax 幾乎把全部的權重給一個鍵",
                    "softmax gives nearly all weight to a single key",
                ),
                (
                    "指數把差距放大；一列就「凍結」在最大的那一個。",
                    "The exponential magnifies differences; the row freezes onto the largest one.",
                ),
            ),
            (
                ("梯度幾乎消失", "gradients nearly vanish"),
                (
                    "權重不是接近 0 就是接近 1，分數動一點點，權重也不動。",
                    "With weights near 0 or 1 a small move of a score hardly moves any weight.",
                ),
            ),
            (
                (
                    "權重變得平均",
                    "weights become even",
                ),
                (
                    "相反：分數全部接近 0 時，權重才會平均。",
                    "It is the other way round: weights are even when all scores are near 0.",
                ),
            ),
            (
                (
                    "一列的總和超過 1",
                    "rows sum to more than 1",
                ),
                (
                    "不會，softmax 之後每一列的總和永遠是 1。",
                    "No: after softmax each row sums to 1, whatever the scores.",
                ),
            ),
        ),
        right=2,
    ),
    "03_when": Question(
        "03",
        (
            "遮罩要在哪一步套上？",
            "At which step does the mask come in?",
        ),
        (
            (
                (
                    "softmax 之前，把看不到的分數設成 −∞",
                    "before softmax: hidden scores become −∞",
                ),
                (
                    "這樣看不到的權重剛好是 0，看得到的總和還是 1。",
                    "Hidden weights are then exactly 0, and those that may be seen still sum to 1.",
                ),
            ),
            (
                (
                    "softmax 之後，把看不到的權重設成 0 就好",
                    "after softmax: hidden weights are simply set to 0",
                ),
                (
                    "這樣一列的總和小於 1，而且還洩漏了未來有多少分數。",
                    "Rows then sum to less than 1, and how much is missing tells of the future.",
                ),
            ),
            (
                (
                    "softmax 之前，把看不到的分數設成 0",
                    "before softmax: hidden scores become 0",
                ),
                (
                    "分數 0 也會得到權重，e⁰ 是 1。",
                    "A score of 0 gets weight as well: e⁰ is 1.",
                ),
            ),
        ),
    ),
    "03_diagonal": Question(
        "03",
        (
            "因果遮罩下，第一個詞元看得到誰？",
            "Under the causal mask, whom does the first token see?",
        ),
        (
            (
                ("只有自己", "only itself"),
                (
                    "下三角含對角線，所以第一列剛好剩下一格。",
                    "The lower triangle holds the diagonal, so one cell is left in the first row.",
                ),
            ),
            (
                ("誰都看不到", "nobody"),
                (
                    "那是把對角線也遮住了：第一列會一格不剩。",
                    "That would hide the diagonal too and leave the first row without any cell.",
                ),
            ),
            (
                ("後面的每一個詞元", "every token after it"),
                (
                    "方向反了：因果遮罩擋的正是後面的詞元。",
                    "That is the wrong way round: later tokens are just what it hides.",
                ),
            ),
        ),
    ),
    "04_shift": Question(
        "04",
        (
            "一列的每個分數都加上同一個數，權重會怎樣？",
            "The same number is added to every score of a row. What do the weights do?",
        ),
        (
            (
                ("完全不變", "nothing at all"),
                (
                    "分子和分母同乘一個數，所以可以放心減去最大值。",
                    "Numerator and denominator gain one factor; so the maximum may be subtracted.",
                ),
            ),
            (
                ("全部變大", "all of them grow"),
                (
                    "總和一定是 1，不可能全部變大。",
                    "They sum to 1, so they cannot all grow.",
                ),
            ),
            (
                ("變得更尖銳", "they become more peaked"),
                (
                    "讓它變尖銳的是乘法（溫度變低），不是加法。",
                    "It is a factor (a lower temperature) that does this, not a sum.",
                ),
            ),
        ),
    ),
    "04_axis": Question(
        "04",
        (
            "權重矩陣裡，哪些格的總和是 1？",
            "Which cells of the matrix of weights sum to 1?",
        ),
        (
            (
                ("同一列（row），同一個查詢", "those of a row, of one query"),
                (
                    "每個查詢把自己的 1 分給各個鍵。",
                    "Each query shares out a 1 of its own among the keys.",
                ),
            ),
            (
                ("同一行（column），同一個鍵", "those of a column, of one key"),
                (
                    "一個鍵可以受到很多查詢注意，也可以沒有；行的總和不固定。",
                    "A key may be attended to by many queries or by none; columns sum to anything.",
                ),
            ),
            (
                ("整個矩陣", "the whole matrix"),
                (
                    "整個矩陣的總和是查詢的個數，因為每一列各是 1。",
                    "The whole sums to the number of queries, since each row sums to 1.",
                ),
            ),
        ),
    ),
    "05_peaked": Question(
        "05",
        (
            "一個頭的權重一開始就非常尖銳，對訓練有什麼影響？",
            "The weights of a head are very peaked from the start. What does that do to training?",
        ),
        (
            (
                (
                    "傳回分數的梯度很小，Q 與 K 幾乎學不到東西",
                    "little gradient reaches the scores, so Q and K hardly learn",
                ),
                (
                    "凍結的 softmax 對分數幾乎沒有反應，所以也沒有什麼可以往回傳。",
                    "A frozen softmax hardly answers to its scores; little is sent back.",
                ),
            ),
            (
                ("參數變少了", "there are fewer parameters"),
                (
                    "參數一樣多；權重是每次算出來的，不是參數。",
                    "There are as many as before; these weights are computed each time.",
                ),
            ),
            (
                ("每一步要算更久", "each step takes longer to compute"),
                (
                    "計算量和數值大小無關；受影響的是每一步學到多少。",
                    "The work is the same; what suffers is how much a step teaches.",
                ),
            ),
        ),
    ),
    "05_leak": Question(
        "05",
        (
            "訓練損失低得出奇，但一個字一個字生成時一塌糊塗。最可能的原因是？",
            "Training loss is strangely low, yet generated text is hopeless. Why, most likely?",
        ),
        (
            (
                (
                    "遮罩漏了，模型偷看了要預測的字",
                    "the mask leaks, and the model saw the character it had to predict",
                ),
                (
                    "生成時沒有未來可以偷看，學到的捷徑就沒用了。",
                    "When generating there is no future to look at, and the short cut is gone.",
                ),
            ),
            (
                ("學習率太小", "the learning rate is too small"),
                (
                    "那樣損失會降得慢，不會低得出奇。",
                    "Loss would then fall slowly, not be strangely low.",
                ),
            ),
            (
                ("模型太小", "the model is too small"),
                (
                    "太小的模型，訓練損失也壓不低。",
                    "A model that is too small cannot bring the training loss down either.",
                ),
            ),
        ),
    ),
    "06_tiles": Question(
        "06",
        (
            "分塊寫法為什麼省記憶體？",
            "Why does the tiled way need less memory?",
        ),
        (
            (
                (
                    "它從不存下整張 T × T 的表",
                    "it never stores the whole table of T × T",
                ),
                (
                    "每次只有一小塊，加上目前的最大值與總和。",
                    "There is one tile at a time, and the maximum and the sum so far.",
                ),
            ),
            (
                ("它算的乘法比較少", "it multiplies less"),
                (
                    "乘法一樣多；省下的是存放和搬運。",
                    "It multiplies as much; what it saves is storing and moving.",
                ),
            ),
            (
                ("它算出來的是近似值", "its result is an approximation"),
                (
                    "結果相同，只差捨入誤差。",
                    "Its result is the same but for rounding.",
                ),
            ),
        ),
    ),
    "06_cache": Question(
        "06",
        (
            "生成時，KV 快取存下哪些東西？",
            "What does the KV cache keep during generation?",
        ),
        (
            (
                ("過去詞元的鍵", "the keys of past tokens"),
                (
                    "新的查詢要和每個過去的鍵比對。",
                    "The new query is compared with every past key.",
                ),
            ),
            (
                ("過去詞元的值", "the values of past tokens"),
                (
                    "輸出是這些值的加權總和。",
                    "The output is a weighted sum of these values.",
                ),
            ),
            (
                ("過去詞元的查詢", "the queries of past tokens"),
                (
                    "過去的查詢已經用完了，之後不會再用到。",
                    "Past queries have done their work and are not needed again.",
                ),
            ),
            (
                ("過去的權重", "the weights of the past"),
                (
                    "過去的列不會再變，也不用再看；存起來只是占地方。",
                    "Past rows neither change nor are looked at again; they would only take room.",
                ),
            ),
        ),
        right=2,
    ),
}

NOTEBOOKS = tuple(sorted({question.notebook for question in QUESTIONS.values()}))
