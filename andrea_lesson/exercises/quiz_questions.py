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
            "一個詞元的輸出，是哪些向量加權混合出來的？",
            "The output of a token is a weighted sum of which vectors?",
        ),
        (
            (
                ("看得到的各個位置的值（V）", "the values (V) of the positions it sees"),
                (
                    "查詢和鍵只決定權重，真正混合起來的是值。",
                    "Query and keys only decide the weights; what is mixed are the values.",
                ),
            ),
            (
                ("看得到的各個位置的鍵（K）", "the keys (K) of the positions it sees"),
                (
                    "鍵只拿來和查詢比對，算出權重以後就用不到了。",
                    "Keys are only compared with the query; once there are weights, they are done.",
                ),
            ),
            (
                ("看得到的各個位置的查詢（Q）", "the queries (Q) of the positions it sees"),
                (
                    "一列只用自己的那一個查詢，別人的查詢不會混進來。",
                    "A row uses its own query alone; those of others do not come in.",
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
                    "各個頭平分 d_model：頭越多，每個頭就越窄。",
                    "The heads share d_model evenly: the more heads, the narrower each one.",
                ),
            ),
            (
                ("變成兩倍", "it doubles"),
                (
                    "這樣所有的頭合起來，會是 d_model 的四倍寬；它們是平分 d_model 的。",
                    "All heads together would then be four times d_model wide; they share d_model.",
                ),
            ),
            (
                ("不變", "it stays as it is"),
                (
                    "這樣所有的頭合起來，會是 d_model 的兩倍寬；它們是平分 d_model 的。",
                    "All heads together would then be twice d_model wide; they share d_model.",
                ),
            ),
        ),
    ),
    "01_two_projections": Question(
        "01",
        (
            "查詢和鍵為什麼不共用一個權重矩陣？",
            "Why do queries and keys not share one weight matrix?",
        ),
        (
            (
                (
                    "共用的話，「甲找乙」和「乙找甲」的分數一定相同",
                    "because A would score B exactly as B scores A",
                ),
                (
                    "語言裡的關係大多不對稱：甲找乙，乙不一定找甲，所以要分開。",
                    "Few relations in language are mutual, so the two are kept apart.",
                ),
            ),
            (
                (
                    "共用的話，大部分的詞元最容易找到自己",
                    "because most tokens would find themselves most easily",
                ),
                (
                    "和自己的分數是長度的平方，別人很難贏。",
                    "The score with oneself is one's squared length, rarely beaten.",
                ),
            ),
            (
                (
                    "共用的話，形狀對不起來，乘不了",
                    "because the shapes would not fit and could not be multiplied",
                ),
                (
                    "形狀沒有問題，1.4 就真的這樣算過。",
                    "The shapes fit; 1.4 did just that.",
                ),
            ),
            (
                (
                    "共用的話，權重的總和就不是 1",
                    "because the weights would not sum to 1",
                ),
                (
                    "總和是 1 是 softmax 的功勞，和投影無關。",
                    "That they sum to 1 is softmax's doing, whatever the projections.",
                ),
            ),
        ),
        right=2,
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
                    "因為 d_k 個乘積加起來，標準差變成 √d_k 倍",
                    "because a sum of d_k products has √d_k times the standard deviation",
                ),
                (
                    "獨立的數相加，變異數也相加；標準差是變異數的平方根。",
                    "Variances of independent terms add up; the standard deviation is their root.",
                ),
            ),
            (
                (
                    "因為 d_k 個乘積加起來，標準差變成 d_k 倍",
                    "because a sum of d_k products has d_k times the standard deviation",
                ),
                (
                    "變成 d_k 倍的是變異數；正負互相抵消，標準差沒有長那麼快。",
                    "That is the variance; signs cancel in part, so the deviation grows less.",
                ),
            ),
            (
                (
                    "因為這樣每一列權重的總和才會是 1",
                    "because otherwise the weights of a row would not sum to 1",
                ),
                (
                    "總和是 1 是 softmax 的功勞，縮不縮放都一樣。",
                    "That is softmax's doing, scaled or not.",
                ),
            ),
        ),
    ),
    "02_large_scores": Question(
        "02",
        (
            "分數沒有縮放，彼此差得很遠，會發生什麼事？",
            "What happens when scores are left unscaled and lie far apart?",
        ),
        (
            (
                (
                    "softmax 幾乎把權重全部給了一個鍵",
                    "softmax gives nearly all weight to a single key",
                ),
                (
                    "指數放大了差距，這一列就凍結在分數最高的鍵上。",
                    "The exponential magnifies gaps, and the row freezes onto its best key.",
                ),
            ),
            (
                ("梯度幾乎消失", "gradients nearly vanish"),
                (
                    "權重不是接近 0 就是接近 1，分數動一點，權重幾乎不動。",
                    "With weights near 0 or 1 a small move of a score hardly moves any weight.",
                ),
            ),
            (
                (
                    "權重變得平均",
                    "weights become even",
                ),
                (
                    "正好相反：分數彼此差不多，權重才會平均。",
                    "It is the other way round: weights are even when scores are about the same.",
                ),
            ),
            (
                (
                    "一列權重的總和超過 1",
                    "the weights of a row sum to more than 1",
                ),
                (
                    "不會，經過 softmax，每一列的總和永遠是 1。",
                    "No: after softmax each row sums to 1, whatever the scores.",
                ),
            ),
        ),
        right=2,
    ),
    "02_stretch": Question(
        "02",
        (
            "哪一種改法會讓一列的權重變得更尖銳？",
            "Which of these makes the weights of a row more peaked?",
        ),
        (
            (
                ("每個分數都乘以 4", "multiplying every score by 4"),
                (
                    "分數差變成 4 倍，權重的比就是原來的 4 次方。",
                    "The gaps grow by 4, and ratios of weights go to the fourth power.",
                ),
            ),
            (
                ("每個分數都加上 100", "adding 100 to every score"),
                (
                    "softmax 只看分數差，大家一起加，差還是一樣。",
                    "Softmax sees only gaps, and these stay as they are.",
                ),
            ),
            (
                ("每個分數都除以 4", "dividing every score by 4"),
                (
                    "方向反了：分數差變小，權重反而更平均。",
                    "That is the wrong way round: smaller gaps make more even weights.",
                ),
            ),
        ),
    ),
    "03_when": Question(
        "03",
        (
            "因果遮罩該在哪一步套上？",
            "Where does the causal mask come in?",
        ),
        (
            (
                (
                    "softmax 之前，把看不到的分數換成 −∞",
                    "before softmax: hidden scores become −∞",
                ),
                (
                    "這樣看不到的權重剛好是 0，1 全部由看得到的去分。",
                    "Hidden weights are then exactly 0, and the visible ones share the sum of 1.",
                ),
            ),
            (
                (
                    "softmax 之後，把看不到的權重改成 0 就好",
                    "after softmax: hidden weights are set to 0, and that is all",
                ),
                (
                    "這樣一列的總和不到 1，而且未來從分母漏了進來。",
                    "Rows then sum to less than 1: the future leaks in by the denominator.",
                ),
            ),
            (
                (
                    "softmax 之前，把看不到的分數換成 0",
                    "before softmax: hidden scores become 0",
                ),
                (
                    "分數是 0，照樣分到權重，因為 e⁰ 是 1。",
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
                    "下三角含對角線，第一列剛好有一格。",
                    "The lower triangle includes the diagonal, so the first row has just one cell.",
                ),
            ),
            (
                ("誰也看不到", "nobody"),
                (
                    "那就連對角線也遮住了，第一列一格不剩。",
                    "That would hide the diagonal too and leave the first row without any cell.",
                ),
            ),
            (
                ("後面的每一個詞元", "every token after it"),
                (
                    "方向反了：因果遮罩擋住的正是後面的詞元。",
                    "That is the wrong way round: later tokens are just what it hides.",
                ),
            ),
        ),
    ),
    "03_parallel": Question(
        "03",
        (
            "訓練時，為什麼一次前向傳播就能訓練每一個位置？",
            "Why can one forward pass train every position?",
        ),
        (
            (
                (
                    "每一列都只看到生成時看得到的東西",
                    "each row sees just what it would see in generation",
                ),
                (
                    "所以一次算出來的每一列，和一步一步生成時的一樣。",
                    "So every row of the one pass is the same as step by step.",
                ),
            ),
            (
                (
                    "後面的位置可以參考前面猜出來的詞元",
                    "later positions use the tokens predicted before them",
                ),
                (
                    "訓練時輸入的是正確的詞元，不管前面猜對猜錯：這叫教師強制。",
                    "In training the inputs are the true tokens, whatever was predicted: "
                    "teacher forcing.",
                ),
            ),
            (
                (
                    "每個位置都看得到整句話",
                    "every position sees the whole sentence",
                ),
                (
                    "那樣答案就漏了，生成時也沒有整句話可以看。",
                    "Then the answers leak, and in generation there is no whole sentence to see.",
                ),
            ),
        ),
    ),
    "04_shift": Question(
        "04",
        (
            "一列的每個分數都加上同一個數，權重會怎樣？",
            "The same number is added to every score of a row. What happens to the weights?",
        ),
        (
            (
                ("完全不變", "they stay exactly as they are"),
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
                    "Multiplying (a lower temperature) makes them more peaked; adding does not.",
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
    "04_weight": Question(
        "04",
        (
            "一個詞元分到一列裡九成的權重。哪一句一定成立？",
            "A token gets nine tenths of the weight of a row. What is certain?",
        ),
        (
            (
                (
                    "輸出裡加進了它的值的 0.9 倍",
                    "0.9 times its value goes into the output",
                ),
                (
                    "輸出是每個值乘上權重再加起來；權重告訴你的只有這件事。",
                    "The output is the sum of weight times value, and a weight says no more "
                    "than that.",
                ),
            ),
            (
                (
                    "輸出很接近它的值",
                    "the output is close to its value",
                ),
                (
                    "別的值如果大得多，剩下的一成也能左右輸出：要看權重乘上值。",
                    "Where other values are much larger, the remaining tenth can prevail: "
                    "what counts is weight times value.",
                ),
            ),
            (
                (
                    "它的鍵和查詢的點積是正的",
                    "the dot product of its key and the query is positive",
                ),
                (
                    "softmax 只看分數差：就算全是負的，最高的那個照樣分到最多。",
                    "Softmax sees only gaps: even if all scores are negative, the highest "
                    "gets most.",
                ),
            ),
            (
                (
                    "模型會這樣回答，就是因為它",
                    "it is why the model answers as it does",
                ),
                (
                    "那還要看值、W_O，以及其他的頭和層；權重只說這個頭混了什麼。",
                    "That depends on the values, W_O and all other heads and layers too; "
                    "weights only tell what this head mixed.",
                ),
            ),
        ),
    ),
    "05_divide": Question(
        "05",
        (
            "訓練時把分數除以 √d_k，好處是什麼？",
            "What is the use of dividing scores by √d_k in training?",
        ),
        (
            (
                (
                    "q、k 起點的變異數是 1 時，同一組設定可以用在各種 d_k",
                    "where q and k start with variance 1, one setting serves every d_k",
                ),
                (
                    "除以 √d_k 只是換單位；省下的是換一種 d_k 就重選一次設定的工夫。",
                    "It is a change of units, which saves choosing settings anew for each d_k.",
                ),
            ),
            (
                (
                    "不除，頭就學不會查找",
                    "an undivided head cannot learn to look things up",
                ),
                (
                    "不除的頭只要換算起點和學習率，成了雙胞胎，走的就是同一條路。",
                    "Convert its start and learning rate, and the undivided twin learns the same.",
                ),
            ),
            (
                (
                    "不管起點和學習率怎麼選，除的都學得比較快",
                    "the divided head learns faster from any start, at any learning rate",
                ),
                (
                    "5.3 的第二場賽跑，起點小、學習率小，贏的是不除的。",
                    "In the second race of 5.3, with a small start and small steps, the undivided "
                    "head won.",
                ),
            ),
        ),
    ),
    "05_leak": Question(
        "05",
        (
            "訓練損失低得出奇，但一個字一個字生成時一塌糊塗。最可能的原因是什麼？",
            "Training loss is strangely low, yet generated text is hopeless. Why, most likely?",
        ),
        (
            (
                (
                    "遮罩漏了，模型偷看了要預測的字",
                    "the mask leaks, and the model saw the character it had to predict",
                ),
                (
                    "生成時後面的字還不存在，沒得偷看，學到的捷徑就沒用了。",
                    "When it writes, the characters to come do not exist, and its shortcut is "
                    "gone.",
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
    "05_evidence": Question(
        "05",
        (
            "從哪些結果看得出遮罩漏了？",
            "Which results show that a mask leaks?",
        ),
        (
            (
                (
                    "換掉一個字，它之前的列動了",
                    "a character is replaced, and rows before it move",
                ),
                (
                    "遮罩正確的話，之前的列看不到那個字，一列也不會動。",
                    "Under a right mask no row before it can see that character, so none "
                    "would move.",
                ),
            ),
            (
                (
                    "同一篇沒看過的文章，整篇一起給的損失，比一個字一個字考低得多",
                    "on the same unseen text, the loss is much lower with the whole text at "
                    "once than one character at a time",
                ),
                (
                    "沒有洩漏的話，兩種考法每一列看到的都一樣，損失也就一樣。",
                    "Without a leak each row sees the same in both tests, and the losses are "
                    "equal.",
                ),
            ),
            (
                (
                    "訓練的損失比沒看過的文章低",
                    "the training loss is lower than the loss on unseen text",
                ),
                (
                    "這是過度擬合，模型把訓練的文章背了起來；遮罩正確也會發生。",
                    "That is overfitting: the model has learned its text by heart, as "
                    "happens under a right mask too.",
                ),
            ),
            (
                (
                    "有一列把大部分的權重給了自己",
                    "a row gives most of its weight to itself",
                ),
                (
                    "看到自己不算偷看：自己是輸入，要猜的是下一個字。",
                    "Seeing itself is no peeking: it is the input, and the next character is "
                    "the answer.",
                ),
            ),
        ),
        right=2,
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
                    "手上一次只有一塊，加上到目前為止的最大值、總和與加權和。",
                    "It holds one tile at a time, and the maximum, the sum and the weighted sum "
                    "so far.",
                ),
            ),
            (
                ("它算的乘法比較少", "it multiplies less"),
                (
                    "因果遮罩下它確實可以跳過一些分塊，但那省的是時間；沒有遮罩，乘法就一樣多。",
                    "Under the causal mask it can skip tiles, but that saves time; without a mask "
                    "it multiplies as much.",
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
    "06_saturated": Question(
        "06",
        (
            "訓練時，有一列幾乎把權重全給了一個鍵。哪些梯度會接近 0？",
            "In training, a row gives nearly all its weight to one key. Which gradients are "
            "close to 0?",
        ),
        (
            (
                (
                    "這一列分數的梯度，最高分的也不例外",
                    "those of the scores of this row, even of the highest",
                ),
                (
                    "分數的梯度是權重乘上「dA 比加權平均高多少」：別的鍵權重是 0，"
                    "最高的那個自己就是平均。",
                    "Each is the weight times how far dA lies above the weighted mean: the others "
                    "have no weight, and the highest is itself the mean.",
                ),
            ),
            (
                (
                    "這一列查詢的梯度",
                    "that of the query of this row",
                ),
                (
                    "它是由分數的梯度算出來的，分數的梯度沒了，它也就沒了。",
                    "It is made of the gradients of the scores and vanishes with them.",
                ),
            ),
            (
                (
                    "拿到權重的那個值的梯度",
                    "that of the value that gets the weight",
                ),
                (
                    "值的梯度是權重乘上 dO，不必穿過 softmax，所以留得下來。",
                    "It is the weight times dO, which need not go back through softmax, and "
                    "so it stays.",
                ),
            ),
            (
                (
                    "這一列輸出的梯度 dO",
                    "that of the output of this row, dO",
                ),
                (
                    "dO 是後面傳回來的，還沒有碰到這一列的權重。",
                    "dO comes back from behind and has not met the weights of this row yet.",
                ),
            ),
        ),
        right=2,
    ),
}

NOTEBOOKS = tuple(sorted({question.notebook for question in QUESTIONS.values()}))
