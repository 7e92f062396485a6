"""Whether a description, a parameter's text or an error says what it must, in Chinese or another language."""

from __future__ import annotations

import re

HAN = re.compile(r"[\u3400-\u9fff]")
VERBS = frozenset(
    """
    add aggregate align analyse analyze annotate append apply archive ask assemble assess assign attach
    audit average bind blur book build bundle calculate call cancel capture cast chart check choose
    clean clear clip clone close collect combine compare compile compose compress compute concatenate
    configure connect convert copy correct count crawl create crop cut debug decode decompress decrypt
    deduplicate define delete deploy describe detect diff disable discover display divide document
    download draw drop echo edit embed emit enable encode encrypt enrich estimate evaluate examine
    execute expand explain export extract fetch fill filter find fix flatten flip fold follow forecast
    format forward generate geocode get give grade graph greet group hash highlight identify import
    index infer inspect insert install invert join keep label launch lint list load locate lock log look
    make map mark mask match measure merge migrate mirror monitor move multiply normalise normalize
    notify number open optimise optimize order outline pack parse paste patch pick ping plan play plot
    post predict prepare preview print process produce profile prune publish pull push put query queue
    quote rank rate read rebuild record redact reduce reformat register remove rename render reorder
    repair repeat replace reply report request reset resize resolve restore retrieve return reverse
    review revert rewrite rotate round route run sample sanitise sanitize save say scale scan schedule
    score scrape search select send serve set shorten show shrink shuffle sign simplify simulate slice
    solve sort split stage start stop store strip submit subscribe subset sum summarise summarize swap
    switch sync tabulate tag take tell test tokenise tokenize trace track train transcode transcribe
    transform translate transpose trim truncate turn unpack unzip update upgrade upload use validate
    verify view visit visualise visualize wait warn watch wrap write zip
    """.split()  # noqa: SIM905  a list would take three hundred lines
)
CHINESE_VERBS = re.compile(
    r"(读取|写入|获取|查询|查找|搜索|检索|生成|创建|新建|删除|移除|更新|修改|编辑|转换|翻译|计算|"
    r"统计|分析|解析|提取|抽取|列出|列举|合并|拆分|分割|压缩|解压|裁剪|缩放|旋转|下载|上传|发送|"
    r"接收|执行|运行|检查|校验|验证|比较|对比|导入|导出|渲染|绘制|格式化|过滤|筛选|排序|汇总|总结|"
    r"识别|检测|监控|打开|关闭|保存|复制|移动|重命名|返回|加密|解密|编码|解码|抓取|爬取|添加|追加|"
    r"插入|替换|设置|调用|打印|显示|展示|问候|重复|将|把|对|按|为|从|根据|读|写|"
    r"查|列|算|测|取)"
)
LIMIT = re.compile(
    r"\d|\b(only|at most|at least|up to|limit(ed)?|max(imum)?|min(imum)?|must|needs?|requires?|within|under|"
    r"below|without|unless|except|cannot|never|not?|if|inside|existing|relative to|one at a time)\b",
    re.IGNORECASE,
)
CHINESE_LIMIT = re.compile(r"\d|上限|下限|仅|只|必须|需|最大|最多|最少|不超过|以内|限|前提|不支持|不能|之前|须")
CONSTRAINT = re.compile(
    r"\d|\b(default(s)?|optional|required|must|max(imum)?|min(imum)?|at most|at least|up to|between|one of|"
    r"only|relative|format|non-?empty|positive|not empty|limit|from|true|false|either|any|ends? in)\b",
    re.IGNORECASE,
)
CHINESE_CONSTRAINT = re.compile(
    r"\d|默认|必填|可选|上限|最大|最多|最小|格式|相对|范围|不超过|仅|只|不能|非空|必须|须|为 ?true|支持"
)
EXAMPLE = re.compile(
    r"\b(examples?|e\.g\.|such as|for instance|for example)|示例|例如|比如|例：|例:|如 |如：|（如|，如", re.I
)
NEXT_STEP = re.compile(r"\S.*\s*(—|–|--)+\s*\S")


def chinese(text: str) -> bool:
    """Whether a text is written in Chinese rather than another language."""
    return len(HAN.findall(text)) * 4 >= len(re.findall(r"\w", text)) > 0


def starts_with_verb(text: str) -> bool:
    """Whether the first word tells what is done; other scripts get the benefit of the doubt."""
    if chinese(text):
        return CHINESE_VERBS.match(text.strip()) is not None
    word = re.match(r"[A-Za-z]+", text.strip())
    if word is None:
        return not text.isascii()
    first = word[0].lower()
    return any(form in VERBS for form in (first, first.removesuffix("s"), first.removesuffix("es")))


def states_limit(text: str) -> bool:
    """Whether a description says what it cannot do or what must hold before."""
    return (CHINESE_LIMIT if chinese(text) else LIMIT).search(text) is not None


def right_length(text: str) -> bool:
    """20 to 80 characters in Chinese, 20 to 200 in other languages."""
    return 20 <= len(text) <= (80 if chinese(text) else 200)


def missing_parts(text: str, *, constrained: bool = False) -> list[str]:
    """Which of a parameter's three parts its description lacks: what it is, its constraint, an example."""
    missing = []
    before = EXAMPLE.split(text, maxsplit=1)[0]
    if len(re.findall(r"\w", before)) < (4 if chinese(text) else 8):
        missing.append("what it is")
    pattern = CHINESE_CONSTRAINT if chinese(text) else CONSTRAINT
    if not constrained and pattern.search(before) is None:
        missing.append("its constraint or default")
    if EXAMPLE.search(text) is None:
        missing.append("an example")
    return missing


def says_next_step(message: str) -> bool:
    """Whether an error has the form `<problem>: <value> — <next step>`; the value may be missing."""
    return "Traceback" not in message and NEXT_STEP.search(message) is not None


def same_language(message: str, description: str) -> bool:
    """Whether a message is Chinese where the description is, and not where it is not."""
    return bool(HAN.search(message)) if chinese(description) else not chinese(message)
